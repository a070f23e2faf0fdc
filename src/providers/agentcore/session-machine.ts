import { guardCall } from "../../async/call-guard.ts";
import type { AgentCore } from "../../aws/agentcore.ts";
import type { Codec } from "../../domain/codec.ts";
import type { CommandEvent } from "../../domain/command-event.ts";
import type { Failure } from "../../domain/errors.ts";
import { randomToken } from "../../platform/random.ts";
import { limitError, type LimitName, type TimeLimits } from "../../remote/time-limits.ts";
import { commandStream } from "../../wire/agentcore/command-stream.ts";
import {
  commandRequest,
  stopSessionRequest,
  type RuntimeTarget,
} from "../../wire/agentcore/runtime-request.ts";
import { failureInStream } from "../../wire/agentcore/service-error.ts";
import type { CommandOptions, CommandRun, ProviderSession, StopOptions } from "../provider.ts";
import { openStream } from "./open-stream.ts";
import { requestIdOf } from "./request-id.ts";

/** A session with a machine: every one on AgentCore. */
export interface MachineSession extends ProviderSession {
  stop(options: StopOptions): Promise<void>;
  runCommand(command: string, options: CommandOptions): Promise<CommandRun>;
}

/** What can be done with the machine of a session, beside talking to its agent. A harness is a runtime here. */
export function sessionMachine(
  service: AgentCore,
  target: RuntimeTarget,
  limits: TimeLimits,
): Pick<MachineSession, "stop" | "runCommand"> {
  return {
    async stop({ signal }: StopOptions) {
      const request = stopSessionRequest(target, randomToken());
      const guard = guardCall<LimitName>(service.clock, signal, STOPPING);
      try {
        const answer = await service.call("data", request, guard.signal);
        answer.close();
      } catch (error) {
        if (guard.reached !== null)
          throw limitError("total", { ...limits, total: STOPPING.milliseconds }, { phase: "http" });
        throw error;
      } finally {
        guard.release();
      }
    },
    async runCommand(command: string, { signal, timeoutSeconds }: CommandOptions) {
      return openStream<CommandEvent>({
        service,
        prepare: async () => commandRequest(target, command, timeoutSeconds),
        limits: commandLimits(limits, timeoutSeconds),
        signal,
        codecFor(answer) {
          const requestId = requestIdOf(answer);
          const stream = commandStream(answer.headers["content-type"] ?? null);
          return explained(stream, (failure) => answer.scrub(failureInStream(failure, requestId)));
        },
        broken: (events, failure) => [
          ...events.filter(({ type }) => type !== "exit" && type !== "failed"),
          { type: "failed", failure },
        ],
      });
    },
  };
}

const STOPPING = { limit: "total", milliseconds: 60_000 } as const;

/** A command may be silent for as long as it may run. */
function commandLimits(limits: TimeLimits, timeoutSeconds = SERVICE_TIMEOUT_SECONDS): TimeLimits {
  const running = (timeoutSeconds + 60) * 1000;
  const atLeast = (name: "firstEvent" | "idle"): number => Math.max(limits[name], running);
  return { ...limits, firstEvent: atLeast("firstEvent"), idle: atLeast("idle") };
}

const SERVICE_TIMEOUT_SECONDS = 300;

function explained<State>(
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
