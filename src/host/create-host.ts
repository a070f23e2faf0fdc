import { untilAborted } from "../async/pause.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { systemClock } from "../platform/clock.ts";
import { REQUEST_CANCELLED_ERROR } from "../wire/acp/client/agent-error.ts";
import { clientCapabilities } from "../wire/acp/client/client-capabilities.ts";
import { failureError } from "../wire/acp/failure-error.ts";
import { internalError, methodNotFound, type RpcError } from "../wire/jsonrpc/rpc-error.ts";
import type { RpcOutcome, RpcRequest } from "../wire/jsonrpc/rpc-message.ts";
import { askPermission } from "./ask-permission.ts";
import { callRecords, type RecordLimits } from "./call-records.ts";
import type { AskedContext } from "./connection.ts";
import { editorMethods } from "./editor-methods.ts";
import type { HostMethod } from "./host-method.ts";
import type { HostOptions } from "./host-options.ts";
import { hostTools } from "./host-tools.ts";
import { noReport } from "./report.ts";
import { shellMethods } from "./shell-methods.ts";
import { skillMethods } from "./skill-methods.ts";

/** The other side of the bridge: what answers when a runtime asks. */
export interface Host {
  /** What a client says of it at `initialize`. */
  readonly capabilities: JsonObject;
  answer(request: RpcRequest, context: AskedContext): Promise<RpcOutcome>;
}

export function createHost(options: HostOptions): Host {
  const { report = noReport, clock = systemClock } = options;
  const records = callRecords({ ...RECORD_LIMITS, ...options.records }, () => clock.monotonic());
  const tools =
    options.tools === undefined ? undefined : hostTools(options.tools, { records, report });
  // A map and not an object: "constructor" is not a method.
  const methods: ReadonlyMap<string, HostMethod> = new Map<string, HostMethod>([
    ...(tools === undefined ? [] : [["host/tools/list", tools.list] as const]),
    ...shellMethods(options.shells),
    ...skillMethods(options),
    ...editorMethods(options),
  ]);

  function begin(
    request: RpcRequest,
    name: string,
    context: AskedContext,
  ): Promise<RpcOutcome> | undefined {
    if (name === "builtin_call") return tools?.call(request, context);
    return methods.get(name)?.(request.params, context);
  }

  return {
    capabilities: capabilitiesOf(options),
    async answer(request, context) {
      const { signal } = context;
      const name = request.method.replace(/^_harn\//, "");
      if (name === "session/request_permission") {
        return askPermission({ ...options, report }, request.params, signal);
      }
      const work = begin(request, name, context);
      if (work === undefined) return { ok: false, error: methodNotFound(request.method) };
      try {
        return await untilAborted(work, signal);
      } catch (error) {
        if (signal.aborted) return { ok: false, error: REQUEST_CANCELLED_ERROR };
        report("A request failed", { method: request.method, error });
        return { ok: false, error: errorOf(error) };
      }
    },
  };
}

function errorOf(error: unknown): RpcError {
  return error instanceof SpanlineError
    ? failureError(error.toFailure())
    : internalError(thrownMessage(error));
}

function capabilitiesOf(options: HostOptions): JsonObject {
  const { files, terminals } = options;
  const offered = (["tools", "skills", "skillMatch", "shells"] as const).filter(
    (name) => options[name] !== undefined,
  );
  const bridge = options.tools === undefined ? offered : [...offered, "callRecords"];
  return clientCapabilities({
    readsFiles: files?.read !== undefined,
    writesFiles: files?.write !== undefined,
    runsTerminals: terminals !== undefined,
    bridge,
  });
}

const RECORD_LIMITS: RecordLimits = {
  keepMs: 60 * 60 * 1000,
  calls: 100_000,
  characters: 32 * 1024 * 1024,
};
