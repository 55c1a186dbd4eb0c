"""Words of Spanish that stand for words of English in claims: the same fact is told in both.

Only words with one plain counterpart, as they occur as things, people, foods, jobs and places in
what people say about themselves; without accents, in the singular.
"""

_PAIRS = """
perro dog perra dog cachorro puppy gato cat gata cat conejo rabbit loro parrot caballo horse
yegua mare tortuga turtle pez fish pajaro bird gallina chicken mascota pet vaca cow oveja sheep
mujer wife esposa wife marido husband esposo husband novia girlfriend novio boyfriend
pareja partner madre mother mama mother mom mother mum mother padre father papa father dad father
hermana sister hermano brother hija daughter hijo son abuela grandmother abuelo grandfather
grandma grandmother grandpa grandfather tia aunt tio uncle prima cousin primo cousin sobrina niece
sobrino nephew suegra mother_in_law suegro father_in_law nieta granddaughter nieto grandson
cuñada sister_in_law cuñado brother_in_law cunada sister_in_law cunado brother_in_law
vecina neighbour vecino neighbour neighbor neighbour jefa boss jefe boss medica doctor medico doctor
doctora doctor dentista dentist abogada lawyer abogado lawyer casera landlord casero landlord
profesora teacher profesor teacher maestra teacher maestro teacher amiga friend amigo friend
compañera colleague compañero colleague companera colleague companero colleague
enfermera nurse enfermero nurse ingeniera engineer ingeniero engineer arquitecta architect
arquitecto architect periodista journalist cocinera cook cocinero cook camarera waitress
camarero waiter traductora translator traductor translator escritora writer escritor writer
electricista electrician fontanera plumber fontanero plumber bombera firefighter
bombero firefighter veterinaria vet veterinario vet veterinarian vet psicologa psychologist
psicologo psychologist panadera baker panadero baker peluquera hairdresser peluquero hairdresser
carpintera carpenter carpintero carpenter fotografa photographer fotografo photographer
farmaceutica pharmacist farmaceutico pharmacist contable accountant jardinera gardener
jardinero gardener musica musician musico musician pintora painter pintor painter
casada married casado married soltera single soltero single divorciada divorced
divorciado divorced viuda widowed viudo widowed
cafe coffee te tea leche milk vino wine cerveza beer agua water zumo juice carne meat pescado fish
pollo chicken cerdo pork ternera beef marisco shellfish gamba shrimp huevo egg queso cheese
pan bread
arroz rice azucar sugar chocolate chocolate fresa strawberry manzana apple naranja orange
platano banana tomate tomato cebolla onion ajo garlic nuez nut cacahuete peanut almendra almond
avellana hazelnut gluten gluten lactosa lactose soja soy trigo wheat penicilina penicillin
polen pollen aspirina aspirin ibuprofeno ibuprofen latex latex abeja bee polvo dust
vegetariana vegetarian vegetariano vegetarian vegana vegan vegano vegan celiaca celiac
celiaco celiac coeliac celiac diabetica diabetic diabetico diabetic zurda left_handed
zurdo left_handed asmatica asthmatic asmatico asthmatic diestra right_handed diestro right_handed
español spanish espanol spanish castellano spanish ingles english frances french aleman german
italiano italian portugues portuguese catalan catalan chino chinese japones japanese ruso russian
arabe arabic euskera basque gallego galician
rojo red roja red azul blue verde green amarillo yellow amarilla yellow negro black negra black
blanco white blanca white gris grey gray grey rosa pink morado purple violeta purple naranja orange
marron brown turquesa turquoise
futbol football tenis tennis baloncesto basketball natacion swimming ciclismo cycling
ajedrez chess guitarra guitar violin violin flauta flute bateria drum trompeta trumpet
baile dancing senderismo hiking lectura reading cocina cooking jazz jazz yoga yoga
lunes monday martes tuesday miercoles wednesday jueves thursday viernes friday sabado saturday
domingo sunday enero january febrero february marzo march abril april mayo may junio june
julio july agosto august septiembre september octubre october noviembre november
diciembre december
lisboa lisbon londres london paris paris roma rome milan milan florencia florence venecia venice
napoles naples sevilla seville oporto porto nueva_york new_york ginebra geneva viena vienna
praga prague varsovia warsaw moscu moscow atenas athens estocolmo stockholm copenhague copenhagen
berlin berlin munich munich hamburgo hamburg colonia cologne bruselas brussels amberes antwerp
tokio tokyo pekin beijing edimburgo edinburgh marsella marseille burdeos bordeaux turin turin
españa spain espana spain francia france alemania germany italia italy portugal portugal
inglaterra england escocia scotland irlanda ireland grecia greece suecia sweden noruega norway
dinamarca denmark finlandia finland polonia poland suiza switzerland belgica belgium
holanda netherlands japon japan brasil brazil mexico mexico marruecos morocco turquia turkey
color colour comida food plato dish bebida drink libro book pelicula film movie film musica music
cancion song grupo band deporte sport estacion season numero number ciudad city pais country
correo email telefono phone movil mobile direccion address cumpleaños birthday cumpleanos birthday
cita appointment boda wedding coche car empresa company equipo team trabajo job cumple birthday
apellido surname vuelo flight matricula plate presupuesto budget talla size zapato shoe
mejor best flatmate roommate
favorito favourite favorita favourite favorite favourite preferido favourite preferida favourite
nombre name edad age aeropuerto airport barrio neighbourhood neighborhood neighbourhood
alquiler rent sueldo salary instrumento instrument universidad university escuela school
kid child kids child children child niño child nino child hijos child
uno 1 una 1 dos 2 tres 3 cuatro 4 cinco 5 seis 6 siete 7 ocho 8 nueve 9 diez 10 doce 12
two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelve 12
""".split()
TWINS = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""From a word to the one it counts as."""
