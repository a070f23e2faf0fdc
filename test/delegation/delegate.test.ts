import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject, JsonValue } from "../../src/data/json.ts";
import { delegateToExternalAgent, type DelegationContext } from "../../src/delegation/delegate.ts";
import type { CheckpointApproval, DelegationRequest } from "../../src/delegation/external-agent.ts";
import { createHttpPeer } from "../../src/delegation/http-peer.ts";
import { createHttpClient } from "../../src/platform/http-client.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createGate } from "../support/gate.ts";

const CAPABILITY = {
  schema: "harn.external_agent.v1",
  pre_dispatch_checkpoint: true,
  budget_cap: true,
  idempotency: true,
  reviewable_handoff: true,
  dispatch: true,
  operations: ["_harn/externalAgent.plan", "_harn/externalAgent.dispatch"],
};
const PLAN = { checkpoint_id: "ckpt-1", plan: "Read, then write", expected_scope: ["docs/"] };
const RESULT = { handoff: { summary: "Done" }, budget_used: { usd: 1, tokens: 10 } };

interface PeerScript {
  readonly card?: (url: string) => JsonValue;
  readonly plan?: () => JsonValue;
  readonly dispatch?: (params: JsonObject) => JsonValue | Promise<JsonValue>;
  /** The whole body of a response to an extension method. Default: the result of the script. */
  readonly reply?: (id: JsonValue) => string;
}

/** A peer on a real socket, with the received extension methods. */
async function startPeer({
  card,
  plan = () => PLAN,
  dispatch = () => RESULT,
  reply,
}: PeerScript = {}) {
  const received: { readonly method: string; readonly params: JsonObject }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = `http://${request.headers.host}`;
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const send = (value: JsonValue): void => void response.end(JSON.stringify(value));
    if (request.method === "GET") {
      const capabilities = { externalAgent: CAPABILITY };
      const supportedInterfaces = [
        { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ];
      return send(card?.(url) ?? { name: "peer", capabilities, supportedInterfaces });
    }
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    received.push({ method, params });
    if (reply !== undefined) return void response.end(reply(id));
    const result = method.endsWith(".plan") ? plan() : await dispatch(params);
    send({ jsonrpc: "2.0", id, result });
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = Object(server.address());
  return {
    url: `http://127.0.0.1:${address.port}`,
    received,
    methods: () => received.map(({ method }) => method.split(".")[1]),
  };
}

/** Later than the clock of the store, by which records expire. */
const FUTURE = 4_000_000_000_000;

function createWorld(records = createMemoryStore()) {
  const http = createHttpClient();
  onTestFinished(() => http.close());
  const clock = createFakeClock(FUTURE);
  const context: DelegationContext = {
    records,
    principal: "ada",
    now: () => clock.now(),
    connect: (url) => createHttpPeer({ send: http.send, url }),
    signal: new AbortController().signal,
  };
  return { context, clock, records };
}

const NO: CheckpointApproval = { approved: false };

function createRequest(target: string, fields: Partial<DelegationRequest> = {}): DelegationRequest {
  return {
    target,
    task: "Fix the docs",
    budget: { max_usd: 2, max_tokens: 100 },
    idempotency_key: "key-1",
    expected_scope: null,
    context: {},
    metadata: {},
    ...fields,
  };
}

/** Plans, and approves the shown plan. */
async function approve(
  request: DelegationRequest,
  context: DelegationContext,
): Promise<CheckpointApproval> {
  const { checkpoint } = await delegateToExternalAgent(request, NO, context);
  const { checkpoint_id = "", plan_hash = "" } = checkpoint ?? {};
  return { approved: true, checkpoint_id, plan_hash };
}

describe("The sequence of a delegation", () => {
  it("Without an approval, the plan is returned and nothing is dispatched [B-139] [B-144] [B-150]", async () => {
    const peer = await startPeer();
    const { context } = createWorld();
    const envelope = await delegateToExternalAgent(createRequest(peer.url), NO, context);
    expect(envelope).toMatchObject({
      schema: "harn.external_agent.handoff.v1",
      status: "checkpoint_required",
      checkpoint: { ...PLAN, evidence_refs: [], metadata: {}, is_local: false },
    });
    expect(peer.methods()).toEqual(["plan"]);
  });

  it("With an approval, the task is dispatched once with the key of the plan [B-145] [B-148] [B-151]", async () => {
    const peer = await startPeer();
    const { context } = createWorld();
    const request = createRequest(peer.url, {
      expected_scope: ["docs/"],
      context: { repo: "x" },
      metadata: { by: "test" },
    });
    const approval = await approve(request, context);
    const envelope = await delegateToExternalAgent(request, approval, context);
    expect(envelope).toMatchObject({
      status: "completed",
      handoff: { summary: "Done" },
      replay_of: null,
    });
    const [planned, dispatched] = peer.received;
    expect(peer.methods()).toEqual(["plan", "dispatch"]);
    const { target: _, ...sent } = request;
    expect(planned?.params).toEqual(sent);
    expect(dispatched?.params).toEqual({
      ...sent,
      checkpoint: { ...PLAN, metadata: {}, plan_hash: approval.plan_hash, approved: true },
    });
  });

  it("The same delegation again is replayed without a request to the peer [B-152] [W-37]", async () => {
    const peer = await startPeer();
    const { context, records } = createWorld();
    const request = createRequest(peer.url);
    const approval = await approve(request, context);
    const first = await delegateToExternalAgent(request, approval, context);
    const count = peer.received.length;
    // Another process over the same store.
    const again = createWorld(records).context;
    const replayed = await delegateToExternalAgent(request, NO, again);
    expect(replayed).toEqual({ ...first, status: "replayed", replay_of: "completed" });
    expect(peer.received).toHaveLength(count);
  });

  it("A key of another task is a conflict, and of another principal another delegation [W-37]", async () => {
    const peer = await startPeer();
    const { context } = createWorld();
    const request = createRequest(peer.url);
    await delegateToExternalAgent(request, NO, context);
    await expect(
      delegateToExternalAgent({ ...request, task: "Other" }, NO, context),
    ).rejects.toMatchObject({ kind: "conflict" });
    await expect(
      delegateToExternalAgent({ ...request, budget: { max_usd: 99 } }, NO, context),
    ).rejects.toMatchObject({ kind: "conflict" });
    const other = { ...context, principal: "bob" };
    expect(await delegateToExternalAgent({ ...request, task: "Other" }, NO, other)).toMatchObject({
      status: "checkpoint_required",
    });
  });

  it("Of two concurrent calls one dispatches [W-37]", async () => {
    const gate = createGate();
    const peer = await startPeer({
      async dispatch() {
        await gate.pass();
        return RESULT;
      },
    });
    const { context } = createWorld();
    const request = createRequest(peer.url);
    const approval = await approve(request, context);
    const calls = [1, 2, 3].map(() => delegateToExternalAgent(request, approval, context));
    const settled = Promise.allSettled(calls);
    await gate.entry;
    gate.open();
    const outcomes = (await settled).map((call) =>
      call.status === "fulfilled" ? call.value.status : call.reason.kind,
    );
    expect(outcomes.filter((outcome) => outcome === "completed")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "conflict")).toHaveLength(2);
    expect(peer.methods().filter((method) => method === "dispatch")).toHaveLength(1);
  });

  it("A refusal is not stored, so the peer is asked again [W-37]", async () => {
    let isReady = false;
    const peer = await startPeer({
      card: (url) => ({
        capabilities: isReady ? { externalAgent: CAPABILITY } : {},
        supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC" }],
      }),
    });
    const { context } = createWorld();
    const request = createRequest(peer.url);
    expect(await delegateToExternalAgent(request, NO, context)).toMatchObject({
      status: "refused",
    });
    isReady = true;
    expect(await delegateToExternalAgent(request, NO, context)).toMatchObject({
      status: "checkpoint_required",
    });
  });

  it("An approval of another plan dispatches nothing [W-38]", async () => {
    const peer = await startPeer();
    const { context } = createWorld();
    const request = createRequest(peer.url);
    const approval = await approve(request, context);
    for (const wrong of [
      { approved: true },
      { ...approval, plan_hash: "0" },
      { ...approval, checkpoint_id: "ckpt-2" },
    ]) {
      const envelope = await delegateToExternalAgent(request, wrong, context);
      expect(envelope).toMatchObject({
        status: "refused",
        reason: expect.stringContaining("another plan"),
      });
    }
    expect(peer.methods()).toEqual(["plan"]);
  });

  it("A failed dispatch is sent again with the same key", async () => {
    let attempts = 0;
    const peer = await startPeer({
      dispatch() {
        attempts += 1;
        return attempts === 1 ? {} : RESULT;
      },
    });
    const { context } = createWorld();
    const request = createRequest(peer.url);
    const approval = await approve(request, context);
    await expect(delegateToExternalAgent(request, approval, context)).rejects.toMatchObject({
      kind: "protocol",
    });
    expect(await delegateToExternalAgent(request, approval, context)).toMatchObject({
      status: "completed",
    });
    const keys = peer.received.map(({ params }) => params["idempotency_key"]);
    expect(new Set(keys)).toEqual(new Set(["key-1"]));
  });

  it("After a crash during the dispatch, the delegation waits and is then sent again", async () => {
    const peer = await startPeer({ dispatch: () => new Promise(() => {}) });
    const { context, records } = createWorld();
    const request = createRequest(peer.url);
    const approval = await approve(request, context);
    void delegateToExternalAgent(request, approval, context).catch(() => undefined);
    while (!peer.methods().includes("dispatch")) await new Promise(setImmediate);
    const { context: restarted, clock } = createWorld(records);
    await expect(delegateToExternalAgent(request, approval, restarted)).rejects.toMatchObject({
      kind: "conflict",
    });
    clock.advance(3_600_001);
    void delegateToExternalAgent(request, approval, restarted).catch(() => undefined);
    while (peer.methods().filter((method) => method === "dispatch").length < 2)
      await new Promise(setImmediate);
  });
});

describe("Validation", () => {
  it.each<[string, Partial<DelegationRequest>]>([
    ["no positive cap", { budget: {} }],
    ["a cap of zero only", { budget: { max_usd: 0 } }],
    ["a negative cap", { budget: { max_usd: -1, max_tokens: 5 } }],
    ["a cap that is not finite", { budget: { max_usd: Infinity } }],
    ["no idempotency key", { idempotency_key: "" }],
    ["no task", { task: "  " }],
    ["a target that is no URL", { target: "peer" }],
    ["a target of another scheme", { target: "file:///etc/passwd" }],
  ])(
    "A request with %s is refused before any request to the peer [B-147] [B-148]",
    async (_, fields) => {
      const peer = await startPeer();
      const { context } = createWorld();
      await expect(
        delegateToExternalAgent(createRequest(peer.url, fields), NO, context),
      ).rejects.toMatchObject({ kind: "invalid_request" });
      expect(peer.received).toEqual([]);
    },
  );

  const place = (at: string) =>
    ({
      capabilities: { capabilities: { externalAgent: CAPABILITY } },
      "capabilities._meta.harn": {
        capabilities: { _meta: { harn: { externalAgent: CAPABILITY } } },
      },
      "_meta.harn": { _meta: { harn: { externalAgent: CAPABILITY } } },
    })[at];

  it.each(["capabilities", "capabilities._meta.harn", "_meta.harn"])(
    "The capability is found at %s [B-138] [B-140] [B-141] [B-142]",
    async (at) => {
      const peer = await startPeer({
        card: (url) => ({
          ...place(at),
          supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC" }],
        }),
      });
      const { context } = createWorld();
      expect(await delegateToExternalAgent(createRequest(peer.url), NO, context)).toMatchObject({
        status: "checkpoint_required",
      });
    },
  );

  it.each(["schema", "budget_cap", "idempotency", "reviewable_handoff", "dispatch"])(
    "A card without %s is refused before the plan [B-143] [B-149]",
    async (missing) => {
      const { [missing]: _, operations: __, ...rest } = CAPABILITY as JsonObject;
      const peer = await startPeer({
        card: (url) => ({
          capabilities: { externalAgent: rest },
          supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC" }],
        }),
      });
      const { context } = createWorld();
      expect(await delegateToExternalAgent(createRequest(peer.url), NO, context)).toMatchObject({
        status: "refused",
      });
      expect(peer.received).toEqual([]);
    },
  );

  it("A peer that cannot plan is refused, unless the caller allows a plan of its own [B-155] [B-156]", async () => {
    const { pre_dispatch_checkpoint: _, operations: __, ...rest } = CAPABILITY;
    const withCapability = (externalAgent: JsonObject) => (url: string) => ({
      capabilities: { externalAgent },
      supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC" }],
    });
    const peer = await startPeer({ card: withCapability(rest) });
    const { context } = createWorld();
    const request = createRequest(peer.url);
    expect(await delegateToExternalAgent(request, NO, context)).toMatchObject({
      status: "refused",
    });
    const local = { allow_local_fallback: true, local_plan: "Do it" };
    const { checkpoint, status } = await delegateToExternalAgent(
      request,
      { ...NO, ...local },
      context,
    );
    expect([status, checkpoint?.is_local]).toEqual(["checkpoint_required", true]);
    const { checkpoint_id = "", plan_hash = "" } = checkpoint ?? {};
    const approval = { approved: true, ...local, checkpoint_id, plan_hash };
    expect(await delegateToExternalAgent(request, approval, context)).toMatchObject({
      status: "completed",
    });
    expect(peer.methods()).toEqual(["dispatch"]);
    const weak = await startPeer({ card: withCapability({ ...rest, idempotency: false }) });
    expect(
      await delegateToExternalAgent(
        { ...request, target: weak.url, idempotency_key: "k2" },
        { ...NO, ...local },
        context,
      ),
    ).toMatchObject({ status: "refused" });
  });
});

describe("Results", () => {
  async function deliver(
    result: JsonValue,
    budget: DelegationRequest["budget"] = { max_usd: 2, max_tokens: 100 },
  ) {
    const peer = await startPeer({ dispatch: () => result });
    const { context } = createWorld();
    const request = createRequest(peer.url, { budget });
    return delegateToExternalAgent(request, await approve(request, context), context);
  }

  it.each([{ diff: "--- a" }, { patch: "--- a" }])(
    "A diff artifact is added for %o [B-146] [B-153] [B-154]",
    async (change) => {
      const envelope = await deliver({ ...RESULT, ...change, receipts: ["r-1"] });
      expect(envelope.artifacts).toEqual([
        { kind: "handoff", title: "Handoff", content: { summary: "Done" } },
        { kind: "diff", title: "Diff", content: "--- a" },
      ]);
      expect(envelope.receipts).toEqual(["r-1"]);
    },
  );

  it("A result without a change has no diff artifact [B-154]", async () => {
    expect((await deliver({ ...RESULT, diff: "" })).artifacts.map(({ kind }) => kind)).toEqual([
      "handoff",
    ]);
  });

  it.each<[string, JsonObject]>([
    ["the amount in dollars", { budget_used: { usd: 2.01, tokens: 1 } }],
    ["the tokens under another name", { budget: { used: { usd: 1, total_tokens: 101 } } }],
    ["the usage of a model", { usage: { cost_usd: 1, totalTokens: 500 } }],
    ["the status of the peer", { budget_used: { usd: 1, tokens: 1 }, status: "budget_exceeded" }],
  ])(
    "More than a cap, by %s, is budget_exceeded with the result for review [B-157]",
    async (_, used) => {
      const envelope = await deliver({ handoff: { summary: "Much" }, ...used });
      expect(envelope).toMatchObject({
        status: "budget_exceeded",
        handoff: { summary: "Much" },
        reason: expect.any(String),
      });
    },
  );

  it.each<[string, JsonObject]>([
    ["no amounts", {}],
    ["amounts that are not numbers", { budget_used: { usd: "1", tokens: -5 } }],
    ["one amount of two", { budget_used: { usd: 1 } }],
  ])("A result with %s is budget_unreported [W-38]", async (_, used) => {
    expect(await deliver({ handoff: "x", ...used })).toMatchObject({ status: "budget_unreported" });
  });

  it("The cap itself is not exceeded [B-157]", async () => {
    expect(await deliver({ handoff: "x", budget_used: { usd: 2, tokens: 100 } })).toMatchObject({
      status: "completed",
    });
  });
});

describe("Hostile peers", () => {
  const delegate = async (script: PeerScript) => {
    const peer = await startPeer(script);
    return delegateToExternalAgent(createRequest(peer.url), NO, createWorld().context);
  };

  it.each<[string, PeerScript, string]>([
    ["a card that is too large", { card: () => "x".repeat(300_000) }, "protocol"],
    [
      "an interface at another origin",
      {
        card: () => ({
          capabilities: { externalAgent: CAPABILITY },
          supportedInterfaces: [{ url: "https://evil.example/rpc", protocolBinding: "JSONRPC" }],
        }),
      },
      "denied",
    ],
    [
      "no interface",
      { card: () => ({ capabilities: { externalAgent: CAPABILITY } }) },
      "discovery",
    ],
    ["a response that is not JSON", { reply: () => "<html>" }, "protocol"],
    [
      "a response with another id",
      { reply: () => '{"jsonrpc":"2.0","id":2,"result":{}}' },
      "protocol",
    ],
    ["a response without a result", { reply: () => '{"jsonrpc":"2.0","id":1}' }, "protocol"],
    [
      "an error",
      { reply: () => '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"No"}}' },
      "protocol",
    ],
    ["a checkpoint without an id", { plan: () => ({ plan: "x" }) }, "protocol"],
    ["a checkpoint without a plan", { plan: () => ({ checkpoint_id: "c" }) }, "protocol"],
    ["a checkpoint that is a list", { plan: () => [] }, "protocol"],
  ])("A peer with %s is refused with a clear error", async (_, script, kind) => {
    await expect(delegate(script)).rejects.toMatchObject({ name: "DelegationError", kind });
  });

  it("A peer that cannot be reached is a transport error, and a silent peer a timeout", async () => {
    const { context } = createWorld();
    await expect(
      delegateToExternalAgent(createRequest("http://127.0.0.1:9"), NO, context),
    ).rejects.toMatchObject({ kind: "transport" });
    const peer = await startPeer({ dispatch: () => new Promise(() => {}) });
    const http = createHttpClient();
    onTestFinished(() => http.close());
    const timers = new AbortController();
    const connect = (url: string) =>
      createHttpPeer({
        send: http.send,
        url,
        timeout: (milliseconds) =>
          milliseconds > 60_000 ? timers.signal : new AbortController().signal,
      });
    const request = createRequest(peer.url);
    const approval = await approve(request, context);
    const call = delegateToExternalAgent(request, approval, { ...context, connect });
    while (!peer.methods().includes("dispatch")) await new Promise(setImmediate);
    timers.abort();
    await expect(call).rejects.toMatchObject({ kind: "timeout" });
  });
});
