import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { jsonText } from "../domain/json.ts";
import { toolListResult } from "../wire/acp/host/host-tools.ts";
import { readNamedCall, type NamedCall } from "../wire/acp/host/named-call.ts";
import { internalError, invalidParams } from "../wire/jsonrpc/rpc-error.ts";
import type { RpcOutcome, RpcRequest } from "../wire/jsonrpc/rpc-message.ts";
import { shortDigest } from "../wire/responses/short-digest.ts";
import type { CallRecords } from "./call-records.ts";
import type { AskedContext } from "./connection.ts";
import type { HostOptions, HostToolDefinition } from "./host-options.ts";
import type { Report } from "./report.ts";

/** The tools that a host offers and runs. */
export interface HostTools {
  readonly list: () => Promise<RpcOutcome>;
  /** Once for each call, however often it is asked for. */
  call(request: RpcRequest, context: AskedContext): Promise<RpcOutcome>;
}

export function hostTools(
  tools: NonNullable<HostOptions["tools"]>,
  { records, report }: { readonly records: CallRecords; readonly report: Report },
): HostTools {
  if (typeof tools !== "function") checkNames(tools);
  const current = async (): Promise<readonly HostToolDefinition[]> =>
    typeof tools === "function" ? tools() : tools;

  async function run({ name, args, callId }: NamedCall, signal: AbortSignal): Promise<RpcOutcome> {
    try {
      const tool = (await current()).find((one) => one.name === name);
      if (tool === undefined) {
        return { ok: false, error: invalidParams(`there is no tool ${jsonText(name)}`) };
      }
      const result = await tool.run(args, { signal, callId: callId ?? null });
      return { ok: true, result: result ?? null };
    } catch (error) {
      report("A tool failed", { tool: name, error });
      return { ok: false, error: internalError(thrownMessage(error)) };
    }
  }

  return {
    async list() {
      const described = (await current()).map(
        ({ name, description = "", schema = null, deprecated = false, mcpServer }) => ({
          name,
          description,
          schema,
          deprecated,
          ...(mcpServer !== undefined && { mcpServer }),
        }),
      );
      return { ok: true, result: toolListResult(described) };
    },
    async call(request, { connectionId, signal }) {
      const call = readNamedCall(request.params);
      if (!call.ok) return call;
      const { name, args, callId, isRepeat = false } = call.value;
      const words = `${name} ${jsonText(args)}`;
      // Without an id of its own, a call is told from others by its request, which only counts on its connection. Ids outlive
      // results, so that they are short whatever the agent says.
      const id =
        callId === undefined
          ? `request ${connectionId} ${shortDigest(`${jsonText(request.id)} ${words}`)}`
          : `call ${callId.length > MOST_ID ? shortDigest(callId) : callId}`;
      const recorded = { id, words, isRepeat, cancelled: signal };
      return records.once(recorded, (cancelled) => run(call.value, cancelled));
    },
  };
}

/** Characters of an id that is kept as it is. */
const MOST_ID = 200;

function checkNames(tools: readonly HostToolDefinition[]): void {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (name.trim() === "") throw new SpanlineError("invalid_tool", "A host tool has no name");
    if (names.has(name)) {
      throw new SpanlineError("invalid_tool", `Two host tools are called ${jsonText(name)}`, {
        details: { tool: name },
      });
    }
    names.add(name);
  }
}
