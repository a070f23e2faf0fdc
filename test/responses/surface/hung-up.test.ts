import { expect, it } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { followTurn } from "../../../src/surfaces/responses/follow-turn.ts";
import { settingsOf } from "../../../src/surfaces/responses/responses-options.ts";
import { storedResponse } from "../../../src/surfaces/responses/stored-response.ts";
import { waitingCallers } from "../../../src/surfaces/responses/waiting-callers.ts";
import { responseStream } from "../../../src/wire/responses/stream/response-stream.ts";
import { unrecordedRequest } from "../../../src/wire/responses/recorded-request.ts";
import { hangs, says } from "../../support/scripted-provider.ts";
import { ask, called, get, worldOf, type World } from "./world.ts";

const LOCAL = { id: "local", rights: ["prompt"] } as const;

/** Follows a response for somebody who is gone before the first event could be read. */
async function followGone(world: World, id: unknown): Promise<void> {
  const { sessions } = world;
  const asked = await storedResponse({ sessions }, String(id), LOCAL);
  const following = followTurn(asked, responseStream(unrecordedRequest("scripted")), {
    sessions,
    clock: systemClock,
    settings: settingsOf({}),
    caller: LOCAL,
    gone: AbortSignal.abort(),
    isDetached: false,
    waiting: waitingCallers(),
    report: (error) => {
      throw error;
    },
  });
  await expect(following).rejects.toMatchObject({ code: "aborted" });
}

it("whoever hangs up on an answer that is over ends no other turn [OR-47] [OR-50]", async () => {
  const world = await worldOf([says("Hello"), hangs()]);
  const { body } = await ask(world, { input: "Hi" });
  const conversation = body["session_id"];
  const long = await ask(world, { input: "Long", conversation, background: true });
  await called(world, 2);
  await followGone(world, body["id"]);
  const { body: now } = await get(world, `/responses/${String(long.body["id"])}`);
  expect(now["status"]).toBe("in_progress");
});

it("whoever hangs up before anything was read ends the turn that they began [OR-47]", async () => {
  const world = await worldOf([hangs()]);
  const { body } = await ask(world, { input: "Long", background: true });
  await called(world, 1);
  await followGone(world, body["id"]);
  const { body: now } = await get(world, `/responses/${String(body["id"])}`);
  expect(now["status"]).not.toBe("in_progress");
});
