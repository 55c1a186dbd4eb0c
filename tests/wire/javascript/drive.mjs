// Drives a memory server through every public method of the official JavaScript SDK.
//
//   node drive.mjs '{"baseUrl": "http://127.0.0.1:8080"}'
//   node drive.mjs '{"baseUrl": ..., "projectId": ..., "serviceAccountToken": ...}'
//
// The SDK has to be installed where this file is run from. The server has to declare the type
// `ticket` with the tags plant, size and place.city. Prints one JSON document a check.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as sdk from "@mongodb-js/agent-engine-sdk-memory";

const target = JSON.parse(process.argv[2]);
const memory = new sdk.Memory(target);
const checks = [];

/** Registers a check; it gets a handle of a user of its own, that user's id and their session. */
const check = (name, body) => checks.push([name, body]);

const named = () => `ünï/${randomUUID()}?a=b&c#d%20`;

/** Returns a handle whose requests pass through `fetchImpl` on their way. */
const through = (fetchImpl) => new sdk.Memory({ ...target, fetchImpl });

const refused = async (promise, kind, expected = {}) => {
  const error = await promise.then(
    (value) => assert.fail(`answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );
  assert.equal(error.name, kind, String(error));
  for (const [field, value] of Object.entries(expected)) assert.equal(error[field], value);
  return error;
};

const isChunk = (chunk, source) => {
  assert.equal(chunk.source, source);
  assert.notEqual(chunk.id, "");
  assert.ok(chunk.timestamp instanceof Date && chunk.timestamp.getTime() > 0, "a time of its own");
  assert.ok(chunk.similarity_score > 0 && chunk.similarity_score <= 1, "a score of 0 to 1");
  return chunk;
};

const SEARCHED = ["semantic", "episodic", "taxonomic", "procedural"];

const saveOneOfEach = async (ana, user) => {
  await ana.saveSemantic({ label: "seat", text: "The copper pump leaks" });
  await ana.saveEpisode({ title: "Repair", content: "We mended the copper pump" });
  await ana.saveTaxonomic({ domain: user, term: "copper pump", definition: "it moves water" });
  await ana.saveProcedure({
    procedure: "mend",
    description: "Mend a copper pump",
    content: "Drain the copper pump, then weld it",
  });
};

// --- turns

check("recordTurn: turns are numbered within their session", async (ana, user, session) => {
  const first = await ana.recordTurn({ role: "user", content: "Grüße, 你好, 👩‍🚀" });
  const second = await ana.recordTurn({ role: "assistant", content: "hello", modelName: "m" });
  assert.deepEqual([first.turn_seq, second.turn_seq], [1, 2]);
  assert.equal(first.session_id, session);
  assert.equal(first.acknowledged, true);
});

check("recordTurn: tool calls and their results", async (ana) => {
  const call = { id: "c1", name: "look", arguments: { where: "left", deep: [1, null] } };
  await ana.recordTurn({ role: "assistant", content: null, toolCalls: [call] });
  const result = { toolCallId: "c1", toolName: "look", content: "nothing", isError: true };
  assert.equal((await ana.recordTurn({ role: "tool", ...result })).turn_seq, 2);
});

check("recordTurn: one key stores one turn", async (ana) => {
  const turn = { role: "user", content: "once", idempotencyKey: "the key / 1" };
  const [first, again] = [await ana.recordTurn(turn), await ana.recordTurn(turn)];
  assert.equal(again.id, first.id);
  assert.equal((await ana.recordTurn({ role: "user", content: "next" })).turn_seq, 2);
});

check("recordTurn: an answer that is lost is asked for again", async (ana, userId, sessionId) => {
  let lost = 0;
  const losing = through(async (url, init) => {
    const answer = await fetch(url, init);
    if (lost++ > 0) return answer;
    await answer.arrayBuffer();
    throw new TypeError("the connection was reset");
  });
  const turn = await losing.bind({ userId, sessionId }).recordTurn({ role: "user", content: "hi" });
  assert.equal(turn.turn_seq, 1);
  assert.equal((await ana.recordTurn({ role: "user", content: "next" })).turn_seq, 2);
});

check("recordTurn: a turn without a session is refused", async () => {
  await refused(memory.recordTurn({ role: "user", content: "x" }), "MemoryBadRequestError", {
    status: 400,
  });
});

check("recordTurn: an unknown role is refused", async (ana) => {
  await refused(ana.recordTurn({ role: "king", content: "x" }), "MemoryBadRequestError", {
    status: 422,
    code: "VALIDATION_ERROR",
  });
});

check("recordTurn: half of a cut emoji is explained", async (ana) => {
  const asked = ana.recordTurn({ role: "user", content: "thanks 👍".slice(0, -1) });
  const error = await refused(asked, "MemoryBadRequestError", { status: 422 });
  assert.match(error.message, /half a surrogate pair/);
});

check("recordTurn: a turn that is too large is refused", async (ana) => {
  const asked = ana.recordTurn({ role: "user", content: "x".repeat(300_000) });
  await refused(asked, "MemoryBadRequestError", { status: 413 });
});

// --- facts

check("saveSemantic, getSemantic: the same label replaces", async (ana, user) => {
  const label = named();
  const saved = await ana.saveSemantic({ label, text: "aisle", metadata: { n: 1, none: null } });
  const again = await ana.saveSemantic({ label, text: "window", metadata: null, agentId: null });
  assert.deepEqual([again.id, again.label], [saved.id, label]);
  const entry = await ana.getSemantic({ label });
  assert.deepEqual([entry.id, entry.text, entry.user_id], [saved.id, "window", user]);
});

check("saveSemantic: without upsert nothing is replaced", async (ana) => {
  await ana.saveSemantic({ label: "a", text: "first" });
  const saved = await ana.saveSemantic({ label: "a", text: "second", upsert: false });
  assert.equal(saved.acknowledged, true);
  const found = await ana.searchSemantic({ query: "first second" });
  assert.deepEqual(found.map((chunk) => chunk.content).sort(), ["first", "second"]);
});

check("searchSemantic: a find is a chunk", async (ana, user) => {
  const metadata = { nested: { tier: "gold" } };
  const saved = await ana.saveSemantic({ label: "seat", text: "Prefers an aisle seat", metadata });
  const [chunk] = await ana.searchSemantic({ query: "which seat?" });
  isChunk(chunk, "semantic");
  assert.deepEqual([chunk.id, chunk.content], [saved.id, "Prefers an aisle seat"]);
  assert.deepEqual([chunk.metadata.label, chunk.metadata.user_id], ["seat", user]);
  assert.deepEqual(chunk.metadata.metadata, metadata);
});

check("searchSemantic: visibility narrows", async (ana) => {
  await ana.saveSemantic({ label: "a", text: "the private pump" });
  await ana.saveSemantic({ label: "b", text: "the common pump", visibility: "org" });
  const found = await ana.searchSemantic({ query: "pump", visibility: "org", topK: 200 });
  assert.deepEqual(found.map((chunk) => chunk.content), ["the common pump"]);
});

for (const topK of [0, 1001, 1.5]) {
  check(`searchSemantic: topK ${topK} is refused`, async (ana) => {
    const error = await refused(
      ana.searchSemantic({ query: "x", topK }),
      "MemoryBadRequestError",
      { status: 422 },
    );
    assert.match(error.message, /top_k/);
  });
}

// --- episodes

check("saveEpisode, listEpisodes: sessions are kept", async (ana, user, session) => {
  const episode = { title: "Trip", content: "Went to Oslo", summary: "Oslo", participants: ["Ana"] };
  const saved = await ana.saveEpisode({ ...episode, tags: ["travel"], metadata: { marker: user } });
  await ana.saveEpisode({ title: "Other", content: "Stayed", sessionId: "elsewhere", tags: null });
  assert.equal((await ana.listEpisodes()).length, 2);
  assert.equal((await ana.listEpisodes({ limit: 1 })).length, 1);
  const [entry] = await ana.listEpisodes({ sessionId: session });
  assert.deepEqual([entry.id, entry.content, entry.session_id], [saved.id, "Went to Oslo", session]);
  assert.deepEqual([entry.tags, entry.metadata], [["travel"], { marker: user }]);
});

check("searchEpisodes: only an explicit session narrows", async (ana) => {
  await ana.saveEpisode({ title: "Trip", content: "Went to Oslo", sessionId: "elsewhere" });
  const [chunk] = await ana.searchEpisodes({ query: "Oslo" });
  assert.equal(isChunk(chunk, "episodic").metadata.title, "Trip");
  assert.equal((await ana.searchEpisodes({ query: "Oslo", sessionId: "elsewhere" })).length, 1);
  assert.deepEqual(await ana.searchEpisodes({ query: "Oslo", sessionId: "nowhere" }), []);
});

// --- terms

check("saveTaxonomic, getTaxonomicTerm, listDomains", async (ana) => {
  const [domain, term] = [named(), "größe / size?"];
  await ana.saveTaxonomic({ domain, term, definition: "how large", relatedTerms: ["扬声器"] });
  await ana.saveTaxonomic({ domain, term: "other", definition: "else", relatedTerms: null });
  const entry = await ana.getTaxonomicTerm({ domain, term });
  assert.deepEqual([entry.definition, entry.related_terms], ["how large", ["扬声器"]]);
  assert.ok((await ana.listDomains()).includes(domain));
  assert.ok(!(await ana.listDomains({ visibility: "private" })).includes(domain));
});

check("searchTaxonomic: the domain narrows, no user is named", async (ana) => {
  const domain = named();
  await ana.saveTaxonomic({ domain, term: "PNR", definition: "a booking's name" });
  const [chunk] = await memory.searchTaxonomic({ query: "booking name", domain });
  assert.equal(isChunk(chunk, "taxonomic").content, `${domain}/PNR: a booking's name`);
});

// --- procedures

check("saveProcedure, getProcedure: every field comes back", async (ana) => {
  const procedure = named();
  const fields = {
    description: "Turn the key",
    content: "Stop, swap, start",
    steps: [{ step_type: "instruction", description: "stop", timeout_ms: 5 }],
    resources: [{ uri: "x://y", none: null }],
    compatibility: "any",
    license: "MIT",
    tags: ["ops"],
  };
  const saved = await ana.saveProcedure({
    procedure,
    ...fields,
    allowedTools: ["ssh"],
    triggerConditions: ["expiry"],
    sourceFormat: "md",
    sourcePath: "/a b",
    extractionSource: null,
  });
  const entry = await ana.getProcedure({ procedureName: procedure });
  assert.deepEqual([entry.id, entry.procedure], [saved.id, procedure]);
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(entry[name], value);
  assert.deepEqual([entry.allowed_tools, entry.trigger_conditions], [["ssh"], ["expiry"]]);
  assert.deepEqual([entry.source_format, entry.source_path], ["md", "/a b"]);
});

check("getProcedure: the newest of a name, deleted ones on demand", async (ana) => {
  const procedure = { procedure: "p", description: "d" };
  await ana.saveProcedure({ ...procedure, content: "old" });
  await ana.saveProcedure({ ...procedure, content: "new" });
  const asked = { procedureName: "p", includeDeleted: true };
  assert.equal((await ana.getProcedure(asked)).content, "new");
});

check("discoverProcedures: a find names itself", async (ana) => {
  const saved = await ana.saveProcedure({
    procedure: "rotate",
    description: "Rotate the signing key",
    content: "Stop, swap, start",
    tags: ["ops"],
  });
  const wanted = { query: "how do I rotate a key", tags: ["ops"], similarityThreshold: 0.01 };
  const [found] = await ana.discoverProcedures(wanted);
  assert.deepEqual([found.id, found.procedure], [saved.id, "rotate"]);
  assert.equal(found.content, "Stop, swap, start");
  assert.ok(found.score > 0 && found.score <= 1);
  assert.deepEqual(await ana.discoverProcedures({ ...wanted, tags: ["none"] }), []);
});

check("discoverProcedures: an undeclared filter is explained", async (ana) => {
  const metadataFilter = { "metadata.nope": "x" };
  const asked = ana.discoverProcedures({ query: "x", metadataFilter });
  const error = await refused(asked, "MemoryBadRequestError");
  assert.match(error.message, /metadata\.nope/);
});

check("saveProcedure: updating is not for HTTP", async (ana) => {
  const procedure = { procedure: "p", description: "d", content: "c", updateExisting: true };
  await refused(ana.saveProcedure(procedure), "MemoryNotSupportedError");
});

// --- declared types

check("save, retrieve: dotted and nested tags are the same", async (ana, user) => {
  const nested = { plant: user, size: 2.5, place: { city: "Zürich" } };
  const saved = await ana.save("ticket", `pump of ${user}`, {
    tags: nested,
    contextualMetadata: { by: "me", none: null },
  });
  assert.deepEqual(saved.tags, { plant: user, size: 2.5, "place.city": "Zürich" });
  for (const tags of [nested, { plant: user, "place.city": "Zürich" }]) {
    const { results, count } = await ana.retrieve("ticket", "pump", { tags });
    assert.deepEqual([count, results[0].id], [1, saved.id]);
    assert.deepEqual(results[0].tags, saved.tags);
    assert.deepEqual(results[0].contextual_metadata, { by: "me", none: null });
  }
  const elsewhere = await ana.retrieve("ticket", "pump", { tags: { plant: "no" + user } });
  assert.deepEqual(elsewhere, { results: [], count: 0 });
});

check("save: without tags", async (ana) => {
  const saved = await ana.save("ticket", "bare", { tags: null, contextualMetadata: null });
  assert.deepEqual([saved.type, saved.tags], ["ticket", {}]);
});

check("save, retrieve: an unknown type is told from an old platform", async (ana) => {
  for (const method of ["save", "retrieve"]) {
    const error = await refused(ana[method]("nope", "x"), "MemoryBadRequestError", { status: 404 });
    assert.match(error.message, /unknown custom memory type 'nope'/);
  }
});

check("save, retrieve: an undeclared tag is named", async (ana) => {
  const options = { tags: { colour: "red" } };
  for (const method of ["save", "retrieve"]) {
    const error = await refused(ana[method]("ticket", "x", options), "MemoryBadRequestError", { status: 400 });
    assert.match(error.message, /colour/);
  }
});

for (const topK of [0, 101]) {
  check(`retrieve: topK ${topK} is refused`, async (ana) => {
    const asked = ana.retrieve("ticket", "x", { topK });
    await refused(asked, "MemoryBadRequestError", { status: 422 });
  });
}

// --- all together

check("search: four sources in one list, the best first", async (ana, user) => {
  await saveOneOfEach(ana, user);
  const asked = { query: "copper pump", sources: SEARCHED, domain: user };
  const found = await ana.search(asked);
  assert.deepEqual(found.map((chunk) => chunk.source).sort(), [...SEARCHED].sort());
  found.forEach((chunk) => isChunk(chunk, chunk.source));
  const scores = found.map((chunk) => chunk.similarity_score);
  assert.deepEqual(scores, [...scores].sort((a, b) => b - a));
  assert.equal((await ana.search({ ...asked, topK: 1 })).length, 1);
});

check("search: facts and episodes unless it says", async (ana, user) => {
  await saveOneOfEach(ana, user);
  const found = await ana.search({ query: "copper pump" });
  assert.deepEqual(found.map((chunk) => chunk.source).sort(), ["episodic", "semantic"]);
});

check("buildContext: what is remembered, and how much of it", async (ana) => {
  await ana.saveSemantic({ label: "home", text: "Lives in Oslo" });
  const { formatted_context: text, metadata } = await ana.buildContext({ query: "where?" });
  assert.match(text, /Lives in Oslo/);
  assert.ok(metadata.token_count > 0);
  assert.deepEqual(metadata.memory_counts, { semantic: 1 });
  const none = await ana.buildContext({ query: "where?", visibility: "org" });
  assert.equal(none.formatted_context, "");
});

check("buildContext: turns when they are asked for", async (ana) => {
  await ana.recordTurn({ role: "user", content: "I am allergic to peanuts" });
  const enabledSources = new Set(["stm", "semantic"]);
  const context = await ana.buildContext({ query: "allergies", enabledSources, maxTokens: 4000 });
  assert.match(context.formatted_context, /peanuts/);
});

check("buildContext: 500 tokens leave nothing", async (ana) => {
  await ana.saveSemantic({ label: "home", text: "Lives in Oslo" });
  const context = await ana.buildContext({ query: "where?", maxTokens: 500 });
  assert.equal(context.formatted_context, "");
});

check("buildContext: no session, no user, a filter that matches nothing", async () => {
  const metadataFilter = { "metadata.undeclared": "x" };
  const asked = { query: "x", visibility: "org", sessionId: " ", metadataFilter };
  assert.equal((await memory.buildContext(asked)).formatted_context, "");
});

check("nothing is found: null for one, an empty list for many", async (ana, user) => {
  assert.equal(await ana.getSemantic({ label: named() }), null);
  assert.equal(await ana.getTaxonomicTerm({ domain: named(), term: "x" }), null);
  assert.equal(await ana.getProcedure({ procedureName: named() }), null);
  assert.deepEqual(await ana.listEpisodes(), []);
  assert.deepEqual(await ana.discoverProcedures({ query: "x" }), []);
  assert.deepEqual(await ana.search({ query: "x", sources: SEARCHED, domain: user }), []);
  assert.deepEqual(await ana.search({ query: "", sources: "semantic" }), []);
  assert.equal((await ana.buildContext({ query: "x" })).formatted_context, "");
});

check("bind: nobody reads the private memory of another", async (ana, user) => {
  await ana.saveSemantic({ label: "code", text: "The code is 4711" });
  const bob = memory.bind({ userId: `not ${user}`, sessionId: "s" });
  assert.equal(await bob.getSemantic({ label: "code" }), null);
  assert.deepEqual(await bob.searchSemantic({ query: "code 4711" }), []);
});

check("bind: an identity that is needed and missing is told before a request", async () => {
  await refused(memory.saveSemantic({ label: "a", text: "b" }), "MemoryIdentityError");
});

// --- errors

check("a token that is not known is an authentication error", async () => {
  const stranger = new sdk.Memory({ ...target, serviceAccountToken: "not a token" });
  await refused(stranger.listDomains(), "MemoryAuthError", { status: 401 });
  await refused(stranger.searchSemantic({ query: "x", userId: "u" }), "MemoryAuthError");
});

check("a project that does not exist is an authentication error", async () => {
  const elsewhere = new sdk.Memory({ ...target, projectId: "no such project ü" });
  const kind = "MemoryAuthError";
  await refused(elsewhere.searchSemantic({ query: "x", userId: "u" }), kind);
});

check("another server's path is told from an empty answer", async () => {
  const lost = new sdk.Memory({ ...target, baseUrl: `${target.baseUrl}/elsewhere` });
  const kind = "MemoryRouteNotFoundError";
  await refused(lost.searchSemantic({ query: "x", userId: "u" }), kind, { status: 404 });
});

check("a server that is busy twice is asked a third time", async (ana, userId) => {
  await ana.saveSemantic({ label: "home", text: "Lives in Oslo" });
  let busy = 2;
  const waiting = through((url, init) =>
    busy-- > 0 ? Promise.resolve(new Response("{}", { status: 503 })) : fetch(url, init),
  );
  assert.equal((await waiting.searchSemantic({ query: "Oslo", userId })).length, 1);
});

check("close", () => memory.bind({ userId: "u" }).close());

for (const [name, body] of checks) {
  const [userId, sessionId] = [named(), named()];
  let error = null;
  try {
    await body(memory.bind({ userId, sessionId }), userId, sessionId);
  } catch (thrown) {
    error = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  }
  console.log(JSON.stringify({ check: name, error }));
}
await memory.close();
