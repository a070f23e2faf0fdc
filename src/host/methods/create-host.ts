import { waitUnlessAborted } from "../../async/pause.ts";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../data/json.ts";
import { systemClock } from "../../platform/clock.ts";
import { REQUEST_CANCELLED_ERROR } from "../../wire/acp/client/agent-error.ts";
import { encodeClientCapabilities } from "../../wire/acp/client/client-capabilities.ts";
import { encodeFailure } from "../../wire/acp/encode/encode-failure.ts";
import {
  createInternalError,
  createMethodNotFound,
  type RpcError,
} from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcOutcome, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { answerPermissionRequest } from "./answer-permission-request.ts";
import { createToolCallRecords, type RecordLimits } from "./tool-call-records.ts";
import type { RequestContext } from "../connection/agent-connection.ts";
import {
  createEditorMethods,
  type HostMethod,
  createShellMethods,
  createSkillMethods,
} from "./host-methods.ts";
import type { HostOptions } from "./host-options.ts";
import { createHostToolServer } from "./host-tool-server.ts";
import { ignoreReport } from "../connection/host-report.ts";
import {
  encodeQuestionResult,
  readQuestionRequest,
} from "../../wire/acp/client/question-messages.ts";

/** A host: responds to the requests of a runtime with the features of this program. */
export interface Host {
  /** The client capabilities sent at `initialize`. */
  readonly capabilities: JsonObject;
  answer(request: RpcRequest, context: RequestContext): Promise<RpcOutcome>;
}

export function createHost(options: HostOptions): Host {
  const { report = ignoreReport, clock = systemClock } = options;
  const records = createToolCallRecords({ ...RECORD_LIMITS, ...options.records }, () =>
    clock.monotonic(),
  );
  const tools =
    options.tools === undefined
      ? undefined
      : createHostToolServer(options.tools, { records, report });
  // A map rather than an object, so that "constructor" is not a method.
  const methods: ReadonlyMap<string, HostMethod> = new Map<string, HostMethod>([
    ...(tools === undefined ? [] : [["host/tools/list", tools.list] as const]),
    ...createShellMethods(options.shells),
    ...createSkillMethods(options),
    ...createEditorMethods(options),
  ]);

  function begin(
    request: RpcRequest,
    name: string,
    context: RequestContext,
  ): Promise<RpcOutcome> | undefined {
    if (name === "builtin_call") return tools?.run(request, context);
    if (name === "elicitation/create" && options.question !== undefined)
      return answerQuestion(options.question, request.params, context.signal);
    return methods.get(name)?.(request.params, context);
  }

  return {
    capabilities: encodeCapabilities(options),
    async answer(request, context) {
      const { signal } = context;
      const name = request.method.replace(/^_harn\//, "");
      if (name === "session/request_permission") {
        return answerPermissionRequest({ ...options, report }, request.params, signal);
      }
      const pending = begin(request, name, context);
      if (pending === undefined) return { ok: false, error: createMethodNotFound(request.method) };
      try {
        return await waitUnlessAborted(pending, signal);
      } catch (error) {
        if (signal.aborted) return { ok: false, error: REQUEST_CANCELLED_ERROR };
        report("A request failed", { method: request.method, error });
        return { ok: false, error: toRpcError(error) };
      }
    },
  };
}

function toRpcError(error: unknown): RpcError {
  return error instanceof SpanlineError
    ? encodeFailure(error.toFailure())
    : createInternalError(formatThrown(error));
}

function encodeCapabilities(options: HostOptions): JsonObject {
  const { files, terminals } = options;
  const offered = (["tools", "skills", "skillMatch", "shells"] as const).filter(
    (name) => options[name] !== undefined,
  );
  const bridge = options.tools === undefined ? offered : [...offered, "callRecords"];
  return encodeClientCapabilities({
    readsFiles: files?.read !== undefined,
    writesFiles: files?.write !== undefined,
    runsTerminals: terminals !== undefined,
    showsForms: options.question !== undefined,
    bridge,
  });
}

const RECORD_LIMITS: RecordLimits = {
  keepMs: 60 * 60 * 1000,
  toolCalls: 100_000,
  characters: 32 * 1024 * 1024,
};

/**
 * Responds to `elicitation/create` with the answer of the user. A failing callback is an error, not an answer: the
 * question stays open for others.
 */
async function answerQuestion(
  question: NonNullable<HostOptions["question"]>,
  params: JsonValue | undefined,
  signal: AbortSignal,
): Promise<RpcOutcome> {
  const decoded = readQuestionRequest(params);
  if (!decoded.ok) return decoded;
  const reply = await question(decoded.value, { signal });
  // Another client may answer; the agent then withdraws this request.
  if (reply === "leave") return new Promise(() => {});
  return { ok: true, result: encodeQuestionResult(decoded.value, reply) };
}
