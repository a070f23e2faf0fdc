import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { toJsonText } from "../../data/json.ts";
import { encodeToolList } from "../../wire/acp/host/host-tool-list.ts";
import { decodeHostOperation, type HostOperation } from "../../wire/acp/host/host-operation.ts";
import { createInternalError, createInvalidParams } from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcOutcome, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { computeShortDigest } from "../../data/short-digest.ts";
import type { ToolCallRecords } from "./tool-call-records.ts";
import type { RequestContext } from "../connection/agent-connection.ts";
import type { HostOptions, HostToolDefinition } from "./host-options.ts";
import type { Report } from "../connection/host-report.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The tools offered and run by a host. */
export interface HostToolServer {
  readonly list: () => Promise<RpcOutcome>;
  /** Runs a tool call once, however often it is requested. */
  run(request: RpcRequest, context: RequestContext): Promise<RpcOutcome>;
}

export function createHostToolServer(
  tools: NonNullable<HostOptions["tools"]>,
  { records, report }: { readonly records: ToolCallRecords; readonly report: Report },
): HostToolServer {
  if (typeof tools !== "function") checkNames(tools);
  const current = async (): Promise<readonly HostToolDefinition[]> =>
    typeof tools === "function" ? tools() : tools;

  async function run(
    { name, args, callId }: HostOperation,
    signal: AbortSignal,
  ): Promise<RpcOutcome> {
    try {
      const tool = (await current()).find((candidate) => candidate.name === name);
      if (tool === undefined) {
        return { ok: false, error: createInvalidParams(formatUnknownName("Tool", name)) };
      }
      const result = await tool.run(args, { signal, toolCallId: callId ?? null });
      return { ok: true, result: result ?? null };
    } catch (error) {
      report("A tool failed", { tool: name, error });
      return { ok: false, error: createInternalError(formatThrown(error)) };
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
          ...omitUndefined({ mcpServer }),
        }),
      );
      return { ok: true, result: encodeToolList(described) };
    },
    async run(request, { connectionId, signal }) {
      const call = decodeHostOperation(request.params);
      if (!call.ok) return call;
      const { name, args, callId, isRepeat = false } = call.value;
      const content = `${name} ${toJsonText(args)}`;
      // A tool call without an id is identified by its JSON-RPC request, which is only unique on its connection. Ids
      // are kept longer than results, so long ids are replaced by a digest.
      const id =
        callId === undefined
          ? `request ${connectionId} ${computeShortDigest(`${toJsonText(request.id)} ${content}`)}`
          : `call ${callId.length > MAX_ID_CHARACTERS ? computeShortDigest(callId) : callId}`;
      const recorded = { id, content, isRepeat, cancelSignal: signal };
      return records.runOnce(recorded, (cancelled) => run(call.value, cancelled));
    },
  };
}

/** Characters. Longer ids are stored as a digest. */
const MAX_ID_CHARACTERS = 200;

function checkNames(tools: readonly HostToolDefinition[]): void {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (name.trim() === "") throw new SpanlineError("invalid_tool", "A host tool has no name");
    if (names.has(name)) {
      throw new SpanlineError("invalid_tool", `Two host tools have the name ${toJsonText(name)}`, {
        details: { tool: name },
      });
    }
    names.add(name);
  }
}
