import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { ModelMessage, ModelRequest } from "../../../src/domain/model/model-request.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../src/domain/tools/tool-call.ts";
import type { TurnBlock } from "../../../src/domain/provider/turn.ts";
import { createRequestBody, type ModelDialect } from "../../../src/domain/model/model-dialect.ts";
import type { Model } from "../../../src/models/model.ts";
import { createRequestEncoder } from "../../../src/models/request-encoder.ts";
import { localProvider } from "../../../src/providers/local/local-provider.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import {
  evolveConversation,
  initialConversation,
} from "../../../src/session/runtime/history/conversation.ts";
import type { Effect } from "../../../src/session/due-effects.ts";
import { createConversationReader } from "../../../src/session/runtime/history/conversation-reader.ts";
import {
  createHistoryCaches,
  performInvocation,
  type InvocationContext,
} from "../../../src/session/runtime/effects/perform-invocation.ts";
import { createChatDialect, encodeChatRequest } from "../../../src/wire/chat/request.ts";
import { converseDialect, encodeConverseModelRequest } from "../../../src/wire/converse/request.ts";
import {
  createMessagesDialect,
  encodeMessagesRequest,
} from "../../../src/wire/messages/request.ts";
import { anyAgent } from "../../session/simulation/agent-specs.ts";
import { anyMoved, happeningOf } from "../../session/simulation/moves.ts";
import {
  simulatedSession,
  type SimulatedSession,
} from "../../session/simulation/simulated-session.ts";
import { checkChat, checkConverse, checkMessages } from "./request-rules.ts";
import { runs } from "../../support/test-depth.ts";

const { signal } = new AbortController();

/** A model which only records its requests. */
function recorder(): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    name: "recorder",
    requests,
    async *stream(request) {
      requests.push(request);
      const end = {
        outcome: "completed",
        reason: "stop",
        openToolCallIds: [],
        usage: null,
      } as const;
      yield { type: "end", ...end };
    },
  };
}

function checkRequest(request: ModelRequest): void {
  checkChat(encodeChatRequest("m", request));
  checkChat(encodeChatRequest("m", request, { reasoningName: "reasoning_content" }));
  checkMessages(encodeMessagesRequest("m", request));
  checkConverse(encodeConverseModelRequest(request));
}

type CallEffect = Extract<Effect, { type: "invoke" }>;

/** Performs a due invocation as a driver does, from the log. */
async function requestFor(
  effect: CallEffect,
  { log }: Pick<SimulatedSession, "log">,
  facts: AgentSpec,
): Promise<ModelRequest | undefined> {
  const model = recorder();
  const start = log.findIndex(
    ({ event }) =>
      event.type === "invocation.started" && event.invocationId === effect.invocationId,
  );
  await performInvocation(effect, {
    ...callWork(facts, model),
    readConversation: async () =>
      log.slice(0, start).reduce(evolveConversation, initialConversation),
  });
  return model.requests[0];
}

function callWork(spec: AgentSpec, model: Model): Omit<InvocationContext, "readConversation"> {
  return {
    agent: { spec, digest: "", provider: localProvider({ model }), tools: new Map() },
    clock: systemClock,
    signal,
    coalesceMs: 0,
    readBlob: async (blobId) => new TextEncoder().encode(blobId),
    caches: createHistoryCaches(),
    send: async (happening) => {
      if (happening.type === "invocation-failed") throw new Error(happening.failure.message);
    },
  };
}

/** Performs the invocations of a session as its drivers do: one provider, and caches which last until a kill. */
function cachedRequests({ log }: Pick<SimulatedSession, "log">, facts: AgentSpec) {
  const model = recorder();
  const work = callWork(facts, model);
  const blobs = new Map<string, Uint8Array>();
  const store = {
    readPage: async (_: string, after: number) => log.slice(after, after + 7),
    readBlob: async (_: string, blobId: string) => blobs.get(blobId),
    putBlob: async (_: string, blobId: string, bytes: Uint8Array) => void blobs.set(blobId, bytes),
  };
  const fresh = () => ({
    readConversation: createConversationReader(store, "ses_1", {
      foldedEvents: 5,
      report: (error) => {
        throw error;
      },
    }),
    caches: createHistoryCaches(),
  });
  let history = fresh();
  return {
    killed() {
      history = fresh();
    },
    async requestFor(effect: CallEffect): Promise<ModelRequest | undefined> {
      await performInvocation(effect, { ...work, ...history });
      return model.requests.at(-1);
    },
  };
}

const DIALECTS: readonly ModelDialect[] = [
  createChatDialect("m"),
  createMessagesDialect("m"),
  converseDialect,
];

const forgetful = anyAgent.map((facts) => ({
  ...facts,
  provider: { ...facts.provider, effectFree: true, keepsHistory: false },
}));

const anyBlock: fc.Arbitrary<TurnBlock> = fc.oneof(
  fc.constantFrom("", " ", "So it is.").map((text) => ({ type: "text", text }) as const),
  fc.constantFrom(
    { type: "reasoning", text: "Hm" } as const,
    { type: "reasoning", text: "Hm", signature: "s" } as const,
    { type: "reasoning", text: "", redacted: "cmVk" } as const,
  ),
  fc
    .record({
      id: fc.constantFrom("a", "b", "a.b:1", ""),
      name: fc.constantFrom("look", "files.read", ""),
      inputText: fc.constantFrom("", "{}", "[]", "{"),
      runBy: fc.constantFrom("client", "server"),
    })
    .map((facts) => ({ type: "tool-call", toolCall: createToolCall(facts) }) as const),
  fc
    .record({ id: fc.constantFrom("a", "b", "a.b:1", "z"), isError: fc.boolean() })
    .map(({ id, isError }) => ({
      type: "tool-result" as const,
      result: isError ? createToolError(id, "no") : createToolSuccess(id, ""),
    })),
);

const anyHistory: fc.Arbitrary<readonly ModelMessage[]> = fc.array(
  fc.record({
    role: fc.constantFrom("user", "assistant"),
    blocks: fc.array(anyBlock, { maxLength: 5 }),
  }),
  { maxLength: 6 },
);

describe("Requests to a model", () => {
  it("A request is valid for its API after any sequence of session events, with one result per tool call in order [RMA-P1-24]", async () => {
    let requestCount = 0;
    let withCalls = 0;
    await fc.assert(
      fc.asyncProperty(
        forgetful,
        fc.array(anyMoved, { maxLength: 40, size: "max" }),
        async (facts, moves) => {
          const session = simulatedSession(facts, () => undefined);
          const seen = new Set<string>();
          for (const moved of moves) {
            session.pass(moved.pause);
            session.send(happeningOf(session, moved));
            const [effect] = session.effects;
            if (effect?.type !== "invoke" || seen.has(effect.invocationId)) continue;
            seen.add(effect.invocationId);
            const request = await requestFor(effect, session, facts);
            if (request === undefined) throw new Error("Nothing was asked");
            checkRequest(request);
            const text = JSON.stringify(request.messages);
            for (const outgoingText of effect.outgoing.texts)
              expect(text).toContain(JSON.stringify(outgoingText));
            requestCount += 1;
            if (text.includes('"result"')) withCalls += 1;
          }
        },
      ),
      { numRuns: runs(300) },
    );
    // Without tool calls in the requests, the test would prove nothing.
    expect(withCalls).toBeGreaterThan(requestCount / 10);
  });

  it("A request with cached history equals one built from the whole log, after any sequence of session events", async () => {
    let requests = 0;
    let cached = 0;
    await fc.assert(
      fc.asyncProperty(
        forgetful,
        fc.array(anyMoved, { maxLength: 60, size: "max" }),
        async (facts, moves) => {
          const session = simulatedSession(facts, () => undefined);
          const encoders = DIALECTS.map((dialect) => ({
            dialect,
            encode: createRequestEncoder(dialect),
          }));
          const caching = cachedRequests(session, facts);
          const seen = new Set<string>();
          for (const moved of moves) {
            session.pass(moved.pause);
            if (moved.move.do === "kill") caching.killed();
            session.send(happeningOf(session, moved));
            const [effect] = session.effects;
            if (effect?.type !== "invoke" || seen.has(effect.invocationId)) continue;
            seen.add(effect.invocationId);
            const whole = await requestFor(effect, session, facts);
            const request = await caching.requestFor(effect);
            if (whole === undefined || request === undefined) throw new Error("Nothing was asked");
            const { stableCount: _, ...plain } = request;
            const { stableCount: __, ...expected } = whole;
            expect(plain).toEqual(expected);
            for (const { dialect, encode } of encoders)
              expect(JSON.parse(Buffer.concat(encode(request)).toString())).toEqual(
                JSON.parse(JSON.stringify(createRequestBody(dialect, expected))),
              );
            requests += 1;
            if ((request.stableCount ?? 0) > 1) cached += 1;
          }
        },
      ),
      { numRuns: runs(100) },
    );
    // Without cached requests, the test would prove nothing.
    expect(cached).toBeGreaterThan(requests / 10);
  });

  it("A request is valid for its API for any imported history [RMA-P1-24]", async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        const model = recorder();
        const session = localProvider({ model }).open({ history });
        const call = await session.invoke({ type: "prompt", texts: ["And?"] }, { signal });
        call.close();
        for (const request of model.requests) checkRequest(request);
        expect(model.requests).toHaveLength(1);
      }),
      { numRuns: runs(1000) },
    );
  });
});
