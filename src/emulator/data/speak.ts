import type { Clock } from "../../platform/clock.ts";
import type { Limits, SpokenAnswer } from "../brains/brain.ts";
import type { FailStep, Step } from "../brains/step.ts";
import { frameFaults, type Faults } from "../faults.ts";
import type { Switches } from "../switches.ts";
import type { Dialect } from "./dialect.ts";
import { limiter } from "./limits.ts";
import type { Outlet } from "./outlet.ts";
import { transcript, type Transcript } from "./transcript.ts";

export interface Speech {
  readonly answer: SpokenAnswer;
  readonly dialect: Dialect;
  readonly outlet: Outlet;
  readonly limits: Limits;
  readonly switches: Switches;
  readonly clock: Clock;
  /** Aborts with an `Ending` when the turn is over before its brain is. */
  readonly signal: AbortSignal;
}

/** Why a turn is cut short from outside. `expired`: the lifetime of its session is over, and the machine that it ran on is gone. */
export type Ending = "timeout" | "stopped" | "left" | "expired";

export interface Spoken {
  readonly said: Transcript;
  /** Whether the client is to see its connection reset. */
  readonly reset: boolean;
  /** Whether the client is to see no end at all. */
  readonly silent: boolean;
}

/** Drives a brain to the end of its turn and writes what it says, whether or not anybody still reads. */
export async function speak(speech: Speech): Promise<Spoken> {
  const { answer, dialect, limits, clock, signal } = speech;
  const said = transcript();
  const mouth = frameWriter(speech);
  const limit = limiter(limits);
  const say = async (step: Step): Promise<void> => {
    said.step(step);
    mouth.note(step);
    for (const frame of dialect.step(step)) await mouth.write(frame);
  };
  let failed = false;
  try {
    for await (const step of untilCut(answer.steps, signal)) {
      if (signal.aborted) break;
      if (step.type === "pause") await paused(clock, step.milliseconds, signal);
      else {
        const { steps, over } = limit(step);
        for (const one of steps) await say(one);
        failed = step.type === "fail";
        if (over || failed || mouth.state === "ended") break;
      }
      if (signal.aborted) break;
    }
    const last = lastSteps(signal, speech.switches, mouth.inMessage);
    for (const step of last) await say(step);
    const hasLastWords = !failed && !isReset(speech);
    for (const frame of hasLastWords ? dialect.finish() : []) await mouth.write(frame);
  } catch (error) {
    if (!signal.aborted) await mouth.write(dialect.fail(failureOf(error)));
  } finally {
    mouth.close();
  }
  return { said, reset: isReset(speech), silent: mouth.state === "silent" };
}

function isReset({ signal, switches }: Speech): boolean {
  if (!signal.aborted) return false;
  if (signal.reason === ("expired" satisfies Ending)) return true;
  return signal.reason === "stopped" && switches.stopDuringTurn === "reset";
}

/** A brain that throws once its turn is cut short has only noticed that. */
async function* untilCut(steps: SpokenAnswer["steps"], signal: AbortSignal): AsyncGenerator<Step> {
  try {
    yield* steps;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface FrameWriter {
  write(frame: Uint8Array): Promise<void>;
  note(step: Step): void;
  readonly inMessage: boolean;
  /** What the faults have made of the stream. */
  readonly state: "open" | "ended" | "silent";
  close(): void;
}

function frameWriter({ answer, dialect, outlet, clock }: Speech): FrameWriter {
  const faults: Faults = answer.faults ?? {};
  const fateOf = frameFaults(faults, (failure) => dialect.fail(failure));
  let inMessage = false;
  let state: FrameWriter["state"] = "open";
  let closed = false;
  let cancel: () => void = () => {};
  const keepAlive = (): void => {
    const { keepAlive: kept } = dialect;
    cancel();
    if (kept === undefined || closed || state !== "open") return;
    cancel = clock.after(kept.milliseconds, () => {
      void outlet.send(kept.frame).then(keepAlive);
    });
  };
  keepAlive();
  return {
    async write(frame) {
      if (state !== "open") return;
      const fate = fateOf(frame);
      if (fate.type !== "send") state = fate.type === "end" ? "ended" : "silent";
      keepAlive();
      if (fate.type !== "silence") await outlet.send(fate.bytes);
    },
    note(step) {
      if (step.type === "start") inMessage = true;
      if (step.type === "stop") inMessage = false;
    },
    get inMessage() {
      return inMessage;
    },
    get state() {
      return state;
    },
    close() {
      closed = true;
      cancel();
    },
  };
}

/** What is still said of a turn that is cut short: its message stops, with the reason for that. */
function lastSteps(signal: AbortSignal, switches: Switches, inMessage: boolean): Step[] {
  const ending: unknown = signal.aborted ? signal.reason : undefined;
  const reasons: { readonly [ending: string]: string } = {
    timeout: switches.timeoutStop,
    ...(switches.stopDuringTurn === "interrupted" ? { stopped: "interrupted" } : {}),
  };
  const reason = typeof ending === "string" ? reasons[ending] : undefined;
  if (reason === undefined) return [];
  const start: Step[] = inMessage ? [] : [{ type: "start", role: "assistant" }];
  return [...start, { type: "stop", reason }];
}

/** Resolves when the time has passed or the turn is cut short. */
function paused(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(milliseconds, done);
    signal.addEventListener("abort", done);
  });
}

/** A brain that throws is an agent whose code fails. */
function failureOf(error: unknown): FailStep {
  const message = error instanceof Error ? error.message : String(error);
  return { type: "fail", exception: "runtimeClientError", message };
}
