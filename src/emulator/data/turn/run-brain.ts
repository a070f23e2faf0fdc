import type { Clock } from "../../../platform/clock.ts";
import type { EmulatedLimits, StepsResponse } from "../../brains/brain.ts";
import type { FailStep, Step } from "../../brains/step.ts";
import { createFrameFaults, type Faults } from "../../faults.ts";
import type { Switches } from "../../switches.ts";
import type { Dialect } from "./dialect.ts";
import type { ClientStream } from "./client-stream.ts";
import { createTurnTranscript, type TurnTranscript } from "./turn-transcript.ts";
import { CHARACTERS_PER_TOKEN } from "../../brains/count-tokens.ts";

export interface BrainRun {
  readonly response: StepsResponse;
  readonly dialect: Dialect;
  readonly clientStream: ClientStream;
  readonly limits: EmulatedLimits;
  readonly switches: Switches;
  readonly clock: Clock;
  /** Aborts with a `TurnInterruption` if the turn must end before its brain. */
  readonly signal: AbortSignal;
}

/** Why a turn is interrupted. `expired` means the session has reached its maximum lifetime and its machine is gone. */
export type TurnInterruption = "timeout" | "stopped" | "left" | "expired";

export interface BrainRunResult {
  readonly transcript: TurnTranscript;
  /** True if the client's connection must be reset. */
  readonly isReset: boolean;
  /** True if the stream must not end at all. */
  readonly isSilent: boolean;
}

/** Runs a brain to the end of its turn and writes its output, even if the client has disconnected. */
export async function runBrain(run: BrainRun): Promise<BrainRunResult> {
  const { response, dialect, limits, clock, signal } = run;
  const turnTranscript = createTurnTranscript();
  const writer = createFrameWriter(run);
  const limitStep = createStepLimiter(limits);
  const writeStep = async (step: Step): Promise<void> => {
    turnTranscript.step(step);
    writer.track(step);
    for (const frame of dialect.step(step)) await writer.write(frame);
  };
  let hasFailed = false;
  try {
    for await (const step of readUntilInterrupted(response.steps, signal)) {
      if (signal.aborted) break;
      if (step.type === "pause") await pauseUntilInterrupted(clock, step.milliseconds, signal);
      else {
        const { steps, isOver } = limitStep(step);
        for (const limitedStep of steps) await writeStep(limitedStep);
        hasFailed = step.type === "fail";
        if (isOver || hasFailed || writer.state === "ended") break;
      }
      if (signal.aborted) break;
    }
    const last = createLastSteps(signal, run.switches, writer.isInMessage);
    for (const step of last) await writeStep(step);
    const hasEnding = !hasFailed && !isResetByInterruption(run);
    for (const frame of hasEnding ? dialect.finish() : []) await writer.write(frame);
  } catch (error) {
    if (!signal.aborted) await writer.write(dialect.fail(toFailStep(error)));
  } finally {
    writer.close();
  }
  return {
    transcript: turnTranscript,
    isReset: isResetByInterruption(run),
    isSilent: writer.state === "silent",
  };
}

function isResetByInterruption({ signal, switches }: BrainRun): boolean {
  if (!signal.aborted) return false;
  if (signal.reason === ("expired" satisfies TurnInterruption)) return true;
  return signal.reason === "stopped" && switches.stopDuringTurn === "reset";
}

/** Ignores errors of a brain after an interruption. */
async function* readUntilInterrupted(
  steps: StepsResponse["steps"],
  signal: AbortSignal,
): AsyncGenerator<Step> {
  try {
    yield* steps;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface FrameWriter {
  write(frame: Uint8Array): Promise<void>;
  track(step: Step): void;
  readonly isInMessage: boolean;
  /** The state of the stream after the faults were applied. */
  readonly state: "open" | "ended" | "silent";
  close(): void;
}

function createFrameWriter({
  response: answer,
  dialect,
  clientStream,
  clock,
}: BrainRun): FrameWriter {
  const faults: Faults = answer.faults ?? {};
  const decideFate = createFrameFaults(faults, (failure) => dialect.fail(failure));
  let isInMessage = false;
  let state: FrameWriter["state"] = "open";
  let isClosed = false;
  let cancel: () => void = () => {};
  const scheduleKeepAlive = (): void => {
    const { keepAlive: keepAliveOptions } = dialect;
    cancel();
    if (keepAliveOptions === undefined || isClosed || state !== "open") return;
    cancel = clock.schedule(keepAliveOptions.milliseconds, () => {
      void clientStream.send(keepAliveOptions.frame).then(scheduleKeepAlive);
    });
  };
  scheduleKeepAlive();
  return {
    async write(frame) {
      if (state !== "open") return;
      const fate = decideFate(frame);
      if (fate.type !== "send") state = fate.type === "end" ? "ended" : "silent";
      scheduleKeepAlive();
      if (fate.type !== "silence") await clientStream.send(fate.bytes);
    },
    track(step) {
      if (step.type === "start") isInMessage = true;
      if (step.type === "stop") isInMessage = false;
    },
    get isInMessage() {
      return isInMessage;
    },
    get state() {
      return state;
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
}

/** The final steps of an interrupted turn: its message stops with the reason of the interruption. */
function createLastSteps(signal: AbortSignal, switches: Switches, isInMessage: boolean): Step[] {
  const ending: unknown = signal.aborted ? signal.reason : undefined;
  const reasons: { readonly [ending: string]: string } = {
    timeout: switches.timeoutStop,
    ...(switches.stopDuringTurn === "interrupted" ? { stopped: "interrupted" } : {}),
  };
  const reason = typeof ending === "string" ? reasons[ending] : undefined;
  if (reason === undefined) return [];
  const start: Step[] = isInMessage ? [] : [{ type: "start", role: "assistant" }];
  return [...start, { type: "stop", reason }];
}

/** Resolves when the time has passed or the turn is interrupted. */
function pauseUntilInterrupted(
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.schedule(milliseconds, done);
    signal.addEventListener("abort", done);
  });
}

/** An error thrown by a brain is reported like an error in the agent's code. */
function toFailStep(error: unknown): FailStep {
  const message = error instanceof Error ? error.message : String(error);
  return { type: "fail", exception: "runtimeClientError", message };
}

interface LimitedSteps {
  readonly steps: readonly Step[];
  /** True if the turn ends here. */
  readonly isOver: boolean;
}

/** Passes steps until a limit of the invocation is reached, then ends the message with the reason of the limit. */
function createStepLimiter(limits: EmulatedLimits): (step: Step) => LimitedSteps {
  const total = toCharacters(limits.maxTokens);
  const perCall = toCharacters(limits.maxTokensPerCall);
  let iterations = 0;
  let totalCharacters = 0;
  let callCharacters = 0;
  return (step) => {
    if (step.type === "start" && step.role === "assistant") {
      iterations += 1;
      callCharacters = 0;
      return iterations > limits.maxIterations
        ? { steps: [step, { type: "stop", reason: "max_iterations_exceeded" }], isOver: true }
        : { steps: [step], isOver: false };
    }
    const stepText = readStepText(step);
    const remaining = Math.min(total - totalCharacters, perCall - callCharacters);
    totalCharacters += stepText.length;
    callCharacters += stepText.length;
    if (stepText.length <= remaining) return { steps: [step], isOver: false };
    const reason = callCharacters > perCall ? "max_tokens" : "max_output_tokens_exceeded";
    const truncated = remaining > 0 ? [replaceStepText(step, stepText.slice(0, remaining))] : [];
    return { steps: [...truncated, { type: "stop", reason }], isOver: true };
  };
}

function toCharacters(tokens: number | null): number {
  return tokens === null ? Infinity : tokens * CHARACTERS_PER_TOKEN;
}

function readStepText(step: Step): string {
  if (step.type === "text" || step.type === "reasoning") return step.text;
  return step.type === "input" ? step.fragment : "";
}

function replaceStepText(step: Step, text: string): Step {
  if (step.type === "text" || step.type === "reasoning") return { ...step, text };
  return { type: "input", fragment: text };
}
