import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { followTurn } from "../../../src/surfaces/responses/turn/follow-turn.ts";
import { resolveSettings } from "../../../src/surfaces/responses/responses-options.ts";
import { findStoredResponse } from "../../../src/surfaces/responses/turn/stored-response.ts";
import { createWaitingCallers } from "../../../src/surfaces/responses/turn/waiting-callers.ts";
import { createResponseStream } from "../../../src/wire/responses/stream/response-stream.ts";
import { createUnrecordedRequest } from "../../../src/wire/responses/recorded-request.ts";
import { hangs, says } from "../../support/session/scripted-provider.ts";
import {
  ask,
  called,
  get,
  lastOf,
  openStream,
  textIn,
  worldOf,
  type World,
} from "./responses-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const LOCAL = { id: "local", rights: ["prompt"] } as const;

/** Follows a response with a client which disconnects before it reads the first event. */
async function followGone(world: World, id: unknown): Promise<void> {
  const { sessions } = world;
  const storedResponse = await findStoredResponse({ sessions }, String(id), LOCAL);
  const following = followTurn(
    storedResponse,
    createResponseStream(createUnrecordedRequest("scripted")),
    {
      sessions,
      clock: systemClock,
      settings: resolveSettings({}),
      caller: LOCAL,
      disconnectSignal: AbortSignal.abort(),
      isDetached: false,
      waitingCallers: createWaitingCallers(),
      report: (error) => {
        throw error;
      },
    },
  );
  await expect(following).rejects.toMatchObject({ code: "aborted" });
}

/** Submits a prompt from a surface whose client does not watch the turn. */
async function promptUnwatched({ sessions }: World, sessionId: string): Promise<string> {
  const content = [{ type: "text", text: "Long" }] as const;
  const prompt = { type: "prompt", content } as const;
  const reply = await sessions.command(sessionId, prompt, { principal: LOCAL });
  if (reply.status !== "accepted") throw new Error("It was refused");
  return `resp_${sessionId}_${reply.seq}`;
}

async function statusOf(world: World, id: string): Promise<unknown> {
  return (await get(world, `/responses/${id}`)).body["status"];
}

it("A client that disconnects from a finished response does not end another turn [OR-47] [OR-50]", async () => {
  const world = await worldOf([says("Hello"), hangs()]);
  const { body } = await ask(world, { input: "Hi" });
  const long = await promptUnwatched(world, String(body["session_id"]));
  await called(world, 2);
  await followGone(world, body["id"]);
  expect(await statusOf(world, long)).toBe("in_progress");
});

it("A client that disconnects before it reads an event ends its own turn [OR-47]", async () => {
  const world = await worldOf([says("Hello"), hangs()]);
  const { body } = await ask(world, { input: "Hi" });
  const long = await promptUnwatched(world, String(body["session_id"]));
  await called(world, 2);
  await followGone(world, long);
  expect(await statusOf(world, long)).toBe("cancelled");
});

describe("A session that is deleted while a client follows it", () => {
  it("The stream of a deleted session ends as failed, with the text so far [OR-11] [OR-22]", async () => {
    const world = await worldOf([hangs("Half of")]);
    const stream = await openStream(world, { input: "Long" });
    const seen = await stream.until("response.output_text.delta");
    const { session_id: id } = lastOf(seen.slice(0, 1));
    const path = `/conversations/${String(id)}`;
    expect((await ask(world, undefined, { path, method: "DELETE" })).status).toBe(200);
    const rest = await stream.rest();
    const response = lastOf(rest);
    expect([rest.at(-1)?.["type"], response["status"]]).toEqual(["response.failed", "failed"]);
    expect(textIn(response)).toBe("Half of");
    expect(world.reports).toEqual([]);
  });

  it("A client that waits for the first output of a deleted session gets 404", async () => {
    const world = await worldOf([hangs()]);
    const first = await ask(world, { input: "Long", background: true });
    await called(world, 1);
    const { session_id: conversation } = first.body;
    const { lastPrompt: before } = await world.sessions.status(String(conversation));
    const waiting = ask(world, { input: "Next", conversation });
    await waitUntil(async () => {
      const { lastPrompt: last } = await world.sessions.status(String(conversation));
      return last?.seq !== before?.seq;
    });
    await ask(world, undefined, {
      path: `/conversations/${String(conversation)}`,
      method: "DELETE",
    });
    expect((await waiting).status).toBe(404);
    expect(world.reports).toEqual([]);
  });
});
