"""Questions with the turn that answers each, among others of the same talk. Written by hand."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Labelled:
    """A question, what answers it, and turns of the same talk that do not."""

    question: str
    answer: str
    others: Sequence[str]


MISLED: Sequence[Labelled] = (
    Labelled(
        "Where does Marta keep the spare key?",
        "If you are ever locked out, there is one taped under the third flower pot on my balcony.",
        (
            "Marta lost her key ring again and blamed the cat.",
            "The spare tyre is kept in the garage, behind the bikes.",
            "We should get a spare bulb for the hall before Marta comes.",
        ),
    ),
    Labelled(
        "What is Jonas allergic to?",
        "Jonas cannot have anything with peanuts, his throat closes within minutes.",
        (
            "Jonas says the pollen count is on the radio every morning.",
            "My sister is allergic to cats, so she never visits Jonas.",
            "What is the best restaurant Jonas has been to?",
        ),
    ),
    Labelled(
        "Which instrument did Priya take up last year?",
        "Since last spring I have had cello lessons, Priya said, and my neighbours hate me.",
        (
            "Priya took up a new job last year and moved to the harbour.",
            "The instrument panel of the car was replaced last year.",
            "Priya heard a violin concert in the old church.",
        ),
    ),
    Labelled(
        "How long did the kitchen renovation take?",
        "The builders promised three weeks for the kitchen, and they left after eleven.",
        (
            "The kitchen took most of the money we had put aside.",
            "How long does it take to drive to the lake house?",
            "The renovation of the station will take until winter.",
        ),
    ),
    Labelled(
        "Why was the flight to Oslo cancelled?",
        "They grounded all planes to Norway that evening because of freezing rain on the runway.",
        (
            "I cancelled my gym membership before the trip to Oslo.",
            "The flight to Lisbon was late, but the food was good.",
            "Oslo is lovely in summer, you should book a flight.",
        ),
    ),
    Labelled(
        "What did the vet say about Bruno's leg?",
        "Bruno only has a sprain, no walks for ten days and then short ones, the doctor told us.",
        (
            "Bruno bit the leg of the new table.",
            "The vet moved to a bigger practice near the park.",
            "What did Bruno do to the sofa this time?",
        ),
    ),
    Labelled(
        "Who recommended the dentist to Ines?",
        "My hairdresser swore by Doctor Weber, said Ines, that is how I ended up in that chair.",
        (
            "Ines recommended a film about a dentist.",
            "The dentist charged Ines twice for one filling.",
            "Who is the dentist that advertises on the bus?",
        ),
    ),
    Labelled(
        "What time does the bakery on the corner open?",
        "You get warm rolls next door from half past five, even on Sundays.",
        (
            "The bakery on the corner opened a second shop.",
            "What time does the pharmacy close on Sundays?",
            "The corner table at the cafe is free at noon.",
        ),
    ),
    Labelled(
        "What is the password hint for the guest wifi?",
        "For visitors it is the name of our first dog and the year we got him.",
        (
            "The guest room has a new bed and the wifi is weak there.",
            "The password of the alarm was changed in March.",
            "Guests complained that the wifi dropped during the film.",
        ),
    ),
    Labelled(
        "How does Tomas get to work now?",
        "Tomas sold the car in January, it is twenty minutes on the bike along the canal.",
        (
            "Tomas used to get to work by tram, an hour each way.",
            "How does the new coffee machine at work do foam?",
            "Tomas works from the second floor now.",
        ),
    ),
    Labelled(
        "What present did we agree on for grandmother?",
        "For her ninetieth the four of us will chip in for the river cruise.",
        (
            "Grandmother agreed to come at four.",
            "The present from last year is still in its box.",
            "We agreed to meet at grandmother's house on Friday.",
        ),
    ),
    Labelled(
        "Which medicine must be taken with food?",
        "Do not swallow the white tablets on an empty stomach, they burn.",
        (
            "The food at the hospital was better than its medicine.",
            "The cough medicine must be kept in the fridge.",
            "Which cupboard is the medicine in?",
        ),
    ),
    Labelled(
        "When is the rent due?",
        "The landlord wants his money by the third working day of every month.",
        (
            "The rent went up by four percent.",
            "When is the library book due?",
            "We rent a boat every summer when the children are here.",
        ),
    ),
    Labelled(
        "What colour did they paint the nursery?",
        "The baby's room is pale green now, with a white ceiling.",
        (
            "They paint the fence every other year.",
            "The nursery sells roses in every colour.",
            "What colour is the car of the neighbours?",
        ),
    ),
    Labelled(
        "What went wrong with the release on Thursday?",
        "The migration locked the orders table for forty minutes, so we rolled everything back.",
        (
            "The release party is on Thursday at six.",
            "Nothing went wrong on Friday, for once.",
            "On Thursday the build of the other team was green.",
        ),
    ),
    Labelled(
        "Who has access to the production database?",
        "Only Lena and the on-call engineer can log in to the live data.",
        (
            "The database of the test system was restored on Monday.",
            "Access to the car park needs the blue card.",
            "Who has seen the production plan for the autumn?",
        ),
    ),
    Labelled(
        "How should refunds above 500 euros be handled?",
        "Anything over five hundred goes to a team lead, who signs before money leaves.",
        (
            "Refunds are shown in euros and in francs.",
            "The handle of door 500 should be repaired.",
            "How many refunds were there above the average?",
        ),
    ),
    Labelled(
        "What does the customer Halvorsen complain about?",
        "Halvorsen wrote again, their pallets arrive wet every time it rains.",
        (
            "The customer Halvorsen pays on time.",
            "Nobody should complain about customers in the lift.",
            "Halvorsen moved its office to Bergen.",
        ),
    ),
    Labelled(
        "Which server is being shut down in June?",
        "The old mail machine, hermes, will be switched off at the end of spring, before July.",
        (
            "The server room is cold even in June.",
            "Which server has the most memory?",
            "They shut down the cafeteria in June for repairs.",
        ),
    ),
    Labelled(
        "Why does Omar not eat at the canteen any more?",
        "Omar found a screw in his soup in May and has brought sandwiches ever since.",
        (
            "Omar does not like the new chairs in the canteen.",
            "The canteen has more vegetables than before.",
            "Why does the canteen close at two?",
        ),
    ),
    Labelled(
        "What is the plan if it rains on the wedding day?",
        "Should the weather turn, the ceremony moves into the barn and the dancing to the tent.",
        (
            "The wedding day is the twelfth of June.",
            "It rains a lot on this side of the hill.",
            "The plan of the tables is on the wall.",
        ),
    ),
    Labelled(
        "How did Clara hurt her wrist?",
        "She slipped on the ice outside the post office and landed on her hand, poor Clara.",
        (
            "Clara wears a watch on her left wrist.",
            "How did Clara like the concert?",
            "It hurt Clara that nobody called.",
        ),
    ),
    Labelled(
        "What languages does the new colleague speak?",
        "Yuki grew up in Kobe, studied in Lyon, and switches between Japanese, French and English.",
        (
            "The new colleague speaks too softly.",
            "What languages is the manual printed in?",
            "My colleague spoke about languages at the fair.",
        ),
    ),
    Labelled(
        "Where was the stolen bicycle found?",
        "The police fished it out of the canal by the brewery, rusty but whole.",
        (
            "A bicycle was stolen in front of the school.",
            "The bicycle path ends where the market was.",
            "The keys were found in the bicycle basket.",
        ),
    ),
    Labelled(
        "How much does the piano teacher charge?",
        "Forty for an hour, and half of that for the little one's thirty minutes.",
        (
            "The piano has to be tuned, says the teacher.",
            "How much does a used piano cost?",
            "The teacher is in charge of the school concert.",
        ),
    ),
    Labelled(
        "What did the inspector object to?",
        "The fire doors open the wrong way, that is the one thing he wrote down.",
        (
            "The inspector came at nine and left at ten.",
            "What did the object in the garden turn out to be?",
            "Nobody objects to the new signs.",
        ),
    ),
)
"""The others repeat the question's words, the answer does not: words lead elsewhere."""

PLAIN: Sequence[Labelled] = (
    Labelled(
        "When is Elena's birthday party?",
        "Elena is having her party on the second Saturday of October, at the bowling hall.",
        (
            "Elena turned thirty-one and does not want presents.",
            "The bowling hall raised its prices again.",
            "We still have to find somebody for the music on Saturday.",
        ),
    ),
    Labelled(
        "What did Rafael order at the restaurant?",
        "Rafael took the grilled sea bass and half of my fries.",
        (
            "The restaurant by the bridge is closed on Mondays.",
            "I had the risotto, which was too salty.",
            "Rafael paid for all of us, which was kind.",
        ),
    ),
    Labelled(
        "Which bus goes to the hospital?",
        "Take the 14 from the square, it stops right in front of the hospital.",
        (
            "The bus was so full that I walked.",
            "Visiting hours are from three to seven.",
            "The tram to the square comes every ten minutes.",
        ),
    ),
    Labelled(
        "How many people signed up for the workshop?",
        "We have twenty-three registrations for the workshop so far, and four on the list.",
        (
            "The workshop is in the big room with the bad projector.",
            "Two people asked whether there will be lunch.",
            "Last time the speaker was half an hour late.",
        ),
    ),
    Labelled(
        "Where did Nadia study medicine?",
        "Nadia did her degree in Krakow, before she came to the clinic here.",
        (
            "Nadia works nights in the clinic this month.",
            "Her brother is studying law in Prague.",
            "The clinic is looking for more doctors.",
        ),
    ),
    Labelled(
        "Why did the team change the logging library?",
        "The old logger blocked the event loop under load, so the team swapped it out.",
        (
            "The team lunch is on Wednesday.",
            "The logs are kept for thirty days.",
            "We changed the colour of the dashboard to please the boss.",
        ),
    ),
    Labelled(
        "What is the name of Victor's daughter?",
        "Victor's little girl is called Amelie, after his grandmother.",
        (
            "Victor coaches the under-tens on Sundays.",
            "His son starts school in August.",
            "Amelie's kindergarten is closed on Friday.",
        ),
    ),
    Labelled(
        "What is the limit for expenses without a receipt?",
        "Up to fifteen euros you do not need a receipt, above that accounting sends it back.",
        (
            "Expenses are paid out with the next salary.",
            "Accounting moved to the third floor.",
            "I lost the receipt of the taxi in Cologne.",
        ),
    ),
    Labelled(
        "Which book did the reading group choose for May?",
        "For May the reading group settled on the novel about the lighthouse keeper.",
        (
            "The reading group meets at my place this time.",
            "The book in April was far too long.",
            "Sara brings the wine and the cheese.",
        ),
    ),
    Labelled(
        "How did the interview at the museum go?",
        "My interview with the museum people went well, they want me to come back next week.",
        (
            "The museum has a new wing for photographs.",
            "I bought a jacket for the interview.",
            "They pay less than the gallery did.",
        ),
    ),
    Labelled(
        "What is wrong with the washing machine?",
        "The washing machine does not drain, I think the pump is gone.",
        (
            "The neighbours wash at night, you hear it through the wall.",
            "The repair of the fridge cost ninety euros.",
            "We need washing powder and soap.",
        ),
    ),
    Labelled(
        "Who is looking after the plants during the holiday?",
        "Mrs Okafor from the second floor waters the plants while we are in Greece.",
        (
            "The holiday flat in Greece has a terrace.",
            "The big plant in the hall lost its leaves.",
            "Mrs Okafor broke her glasses.",
        ),
    ),
    Labelled(
        "What deadline did the publisher give Hanna?",
        "The publisher wants Hanna's manuscript on the last day of February.",
        (
            "Hanna writes in the mornings only.",
            "Her publisher was bought by a bigger one.",
            "The cover will be blue, says Hanna.",
        ),
    ),
    Labelled(
        "Which doctor did Paul see about his back?",
        "Paul went to see Doctor Lindqvist because of his back, and got exercises.",
        (
            "Paul carried the sofa alone, of course.",
            "Doctor Lindqvist has moved to the station road.",
            "Back exercises are boring, says Paul.",
        ),
    ),
    Labelled(
        "How often should the filter be replaced?",
        "Put a new filter in every six weeks, more often in summer.",
        (
            "Filters are sold in packs of four.",
            "The water tastes better since we have the filter.",
            "The machine beeps when it is empty.",
        ),
    ),
    Labelled(
        "What was the score of the final?",
        "They lost the final three to one after leading at half time.",
        (
            "The final was sold out within an hour.",
            "We watched it in the pub with the broken screen.",
            "The coach has been there for nine years.",
        ),
    ),
    Labelled(
        "Where can visitors park?",
        "Visitors leave their cars behind the school, the yard is for us.",
        (
            "The yard will be paved in spring.",
            "Visitors have to sign in at the desk.",
            "Parking fines went up to forty.",
        ),
    ),
    Labelled(
        "What does Igor want to do after retirement?",
        "Once he retires, Igor wants to walk from Lisbon to Santiago.",
        (
            "Igor has been at the company since the beginning.",
            "The retirement speech will be short, he promised.",
            "His desk goes to the new trainee.",
        ),
    ),
)
"""As people talk: the answer shares words with the question, and so does the rest."""
