import { guardInvocation } from "../../async/invocation-guard.ts";
import type { AgentCoreClient } from "../../aws/agentcore-client.ts";
import type { Codec } from "../../domain/codec.ts";
import type { CommandEvent } from "../../domain/provider/command-event.ts";
import type { Failure } from "../../domain/errors.ts";
import { randomString, randomToken } from "../../platform/random.ts";
import { createLimitError, type LimitName, type TimeLimits } from "../../remote/time-limits.ts";
import { createCommandStream } from "../../wire/agentcore/runtime/command-stream.ts";
import {
  encodeRunCommand,
  encodeStopSession,
  type RuntimeTarget,
} from "../../wire/agentcore/runtime/runtime-request.ts";
import { classifyServiceFailure } from "../../wire/agentcore/service-error.ts";
import { checkSessionId } from "../../wire/agentcore/check-options.ts";
import type {
  CommandOptions,
  CommandRun,
  OpenOptions,
  ProviderSession,
  StopOptions,
} from "../provider.ts";
import { openStream, readRequestId } from "./open-stream.ts";

/** A session with a machine. Every session on AgentCore has a machine. */
export interface AgentCoreSession extends ProviderSession {
  stop(options: StopOptions): Promise<void>;
  runCommand(command: string, options: CommandOptions): Promise<CommandRun>;
}

/** The requested session id, or a new id. */
export function resolveSessionId({ sessionId }: OpenOptions): string {
  return sessionId === undefined ? createSessionId() : checkSessionId("sessionId", sessionId);
}

/** A new session id with more randomness than a UUID. The prefix identifies the bridge in the logs of AWS. */
function createSessionId(): string {
  return `spanline-${randomString(32)}`;
}

/** The operations on the machine of a session, apart from invocations. AWS treats a harness as a runtime here. */
export function createRuntimeSession(
  service: AgentCoreClient,
  target: RuntimeTarget,
  limits: TimeLimits,
): Pick<AgentCoreSession, "stop" | "runCommand"> {
  return {
    async stop({ signal }: StopOptions) {
      const request = encodeStopSession(target, randomToken());
      const guard = guardInvocation<LimitName>(service.clock, signal, STOP_LIMIT);
      try {
        const response = await service.send("data", request, guard.signal);
        response.close();
      } catch (error) {
        if (guard.reachedLimit !== null)
          throw createLimitError(
            "total",
            { ...limits, total: STOP_LIMIT.milliseconds },
            { phase: "http" },
          );
        throw error;
      } finally {
        guard.release();
      }
    },
    async runCommand(command: string, { signal, timeoutSeconds }: CommandOptions) {
      return openStream<CommandEvent>({
        service,
        prepare: async () => encodeRunCommand(target, command, timeoutSeconds),
        limits: resolveCommandLimits(limits, timeoutSeconds),
        signal,
        createCodec(response) {
          const requestId = readRequestId(response);
          const stream = createCommandStream(response.headers["content-type"] ?? null);
          return explainFailures(stream, (failure) =>
            response.scrub(classifyServiceFailure(failure, requestId)),
          );
        },
        finishBroken: (events, failure) => [
          ...events.filter(({ type }) => type !== "exit" && type !== "failed"),
          { type: "failed", failure },
        ],
      });
    },
  };
}

const STOP_LIMIT = { limit: "total", milliseconds: 60_000 } as const;

/** A command may be silent for its whole timeout, so the idle limits are raised. */
function resolveCommandLimits(
  limits: TimeLimits,
  timeoutSeconds = SERVICE_TIMEOUT_SECONDS,
): TimeLimits {
  const runtimeMs = (timeoutSeconds + 60) * 1000;
  const atLeast = (name: "firstEvent" | "idle"): number => Math.max(limits[name], runtimeMs);
  return { ...limits, firstEvent: atLeast("firstEvent"), idle: atLeast("idle") };
}

const SERVICE_TIMEOUT_SECONDS = 300;

function explainFailures<State>(
  codec: Codec<State, Uint8Array, CommandEvent>,
  explain: (failure: Failure) => Failure,
): Codec<State, Uint8Array, CommandEvent> {
  return {
    ...codec,
    finish(state, emit) {
      codec.finish(state, (event) => {
        if (event.type !== "failed") return emit(event);
        emit({ type: "failed", failure: explain(event.failure) });
      });
    },
  };
}
