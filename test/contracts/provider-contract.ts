import { describe, expect, it } from "vitest";
import { AbortError, ProviderError } from "../../src/domain/provider-error.ts";
import type { ProviderEvent } from "../../src/domain/provider-event.ts";
import { toolSuccess } from "../../src/domain/tool.ts";
import { turnOf } from "../../src/domain/turn.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { startProxy } from "../support/proxy.ts";
import { gather, rejection } from "../support/provider-session.ts";

/** A provider with an agent behind it that knows these prompts. */
export interface ContractSubject {
  /** Where its service is. */
  readonly url: string;
  make(url: string): Provider;
}

/**
 * What the agent of a subject must do, as a script for the emulator. A provider whose agent is no emulator's plays the
 * same.
 */
export const CONTRACT_SCENARIO = `
chunk: 4
turns:
  - { when: hello, answer: Hello there. }
  - { when: long, answer: [Once upon a time, { pause: 600000 }, there was an end.] }
  - { when: fail, answer: [So far, { fail: { type: internalServerException, message: oops } }] }
  - { when: refuse, refuse: { status: 429, type: ThrottlingException, message: slow down } }
  - { when: call, answer: [One moment., { call: look, id: call_1, input: { at: it } }] }
  - { when: { result: { tool: look } }, answer: Thank you. }
`;

/** Every provider passes this. */
export function providerContract(name: string, subject: () => ContractSubject): void {
  describe(`the provider contract: ${name}`, () => {
    const { signal } = new AbortController();
    const open = (url = subject().url) => subject().make(url).open();
    const say = (text: string) => ({ type: "prompt", texts: [text] }) as const;
    const hear = async (text: string): Promise<ProviderEvent[]> =>
      gather(await open().call(say(text), { signal }));

    it("says what it is", () => {
      const provider = subject().make(subject().url);
      expect(provider).toMatchObject({ name, effectFree: expect.any(Boolean) });
      expect(provider.seams).toContain("turn-start");
    });

    it("opens a new conversation each time, or the one that is named", () => {
      const provider = subject().make(subject().url);
      const { id } = provider.open();
      expect(provider.open().id).not.toBe(id);
      expect(provider.open({ sessionId: id }).id).toBe(id);
    });

    it("streams a turn that ends once, at its end", async () => {
      const events = await hear("hello");
      expect(events.filter(({ type }) => type === "end")).toHaveLength(1);
      expect(turnOf(events)).toMatchObject({ text: "Hello there.", end: { outcome: "completed" } });
      expect(events.at(-1)?.type).toBe("end");
    });

    it("closes its connection when the reader leaves", async () => {
      const proxy = await startProxy(subject().url);
      const call = await open(proxy.url).call(say("long"), { signal });
      for await (const event of call) if (event.type === "text.delta") break;
      await proxy.quiet();
      expect(proxy.connections).toBe(1);
    });

    it("throws the caller's abort, and closes its connection", async () => {
      const proxy = await startProxy(subject().url);
      const controller = new AbortController();
      const call = await open(proxy.url).call(say("long"), { signal: controller.signal });
      const reading = (async () => {
        for await (const event of call) {
          if (event.type === "text.delta") controller.abort("enough");
        }
      })();
      const error = await rejection(reading);
      expect(error).toBeInstanceOf(AbortError);
      expect(error).toMatchObject({ cause: "enough" });
      await proxy.quiet();
    });

    it("tells a failure inside the stream as the end of the turn, with what was said before", async () => {
      const turn = turnOf(await hear("fail"));
      expect(turn.text).toBe("So far");
      expect(turn.end).toMatchObject({
        outcome: "failed",
        openCalls: [],
        failure: { details: { phase: "stream" } },
      });
    });

    it("throws a refusal, as nothing was said, and does not try again", async () => {
      const proxy = await startProxy(subject().url);
      const error = await rejection(open(proxy.url).call(say("refuse"), { signal }));
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject({ code: "throttled", phase: "http" });
      expect(proxy.connections).toBe(1);
    });
  });
}

/** And this one, if it hands calls to us. */
export function callsContract(name: string, subject: () => ContractSubject): void {
  it(`the provider ${name} leaves calls to us, and takes their results`, async () => {
    const { provider, turn, answer } = await askForCall(subject());
    expect(provider.seams).toContain("tool-results");
    expect(turn.end).toMatchObject({ outcome: "action-required", openCalls: ["call_1"] });
    expect(turnOf(await gather(await answer())).text).toBe("Thank you.");
  });
}

/** Or this one, if its agent runs its tools itself. */
export function noCallsContract(name: string, subject: () => ContractSubject): void {
  it(`the provider ${name} leaves no call to us, and refuses results`, async () => {
    const { provider, turn, answer } = await askForCall(subject());
    expect(provider.seams).not.toContain("tool-results");
    expect(turn.calls).toEqual([]);
    expect(await rejection(answer())).toMatchObject({ code: "invalid_option" });
  });
}

async function askForCall(subject: ContractSubject) {
  const { signal } = new AbortController();
  const provider = subject.make(subject.url);
  const session = provider.open();
  const call = await session.call({ type: "prompt", texts: ["call"] }, { signal });
  const turn = turnOf(await gather(call));
  const results = [toolSuccess("call_1", "seen")];
  const answer = () => session.call({ type: "results", turn, results }, { signal });
  return { provider, turn, answer };
}
