import { expect, it } from "vitest";
import type { JsonObject } from "../../data/json.ts";
import type { RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { createHostToolServer } from "./host-tool-server.ts";
import { ignoreReport } from "../connection/host-report.ts";

const LONG = "x".repeat(1_000_000);

function call(args: JsonObject, { id = 1, callId }: { id?: number; callId?: string }): RpcRequest {
  const meta = callId === undefined ? {} : { _meta: { harn: { toolCallId: callId } } };
  const params = { name: "save", args: [args], ...meta };
  return { type: "request", id, method: "builtin_call", params };
}

it("Tool calls are recorded under short, distinct ids, however long the agent's ids are", async () => {
  const ids: string[] = [];
  const tools = createHostToolServer([{ name: "save", run: () => 1 }], {
    report: ignoreReport,
    records: {
      runOnce: async ({ id }) => {
        ids.push(id);
        return { ok: true, result: 1 };
      },
    },
  });
  const context = { connectionId: "one", signal: new AbortController().signal };
  const calls = [
    call({ text: LONG }, {}),
    call({ text: `${LONG}y` }, {}),
    call({ text: LONG }, { id: 2 }),
    call({}, { callId: LONG }),
    call({}, { callId: `${LONG}y` }),
    call({}, { callId: "tool_1" }),
  ];
  for (const one of [...calls, ...calls]) await tools.run(one, context);
  expect(new Set(ids).size).toBe(calls.length);
  expect(Math.max(...ids.map(({ length }) => length))).toBeLessThan(300);
});
