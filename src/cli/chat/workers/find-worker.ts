import type { WorkerRow } from "../../../host/index.ts";
import { toSingleLine } from "../../../inspect/trace-style.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

export interface KnownWorkers {
  /** The open workers of the session. */
  readonly open: readonly WorkerRow[];
  /** The workers as last listed for the person, whose positions the person knows. */
  readonly listed: readonly WorkerRow[];
}

/** The worker that a person named, and the text after its name. A problem is a message for the person. */
export type NamedWorker =
  | { readonly worker: WorkerRow; readonly text: string }
  | { readonly problem: string };

/** Finds the worker that the whole text names. */
export function findWorker(name: string, known: KnownWorkers): NamedWorker {
  return selectWorker(name, known, [{ name, text: "" }]);
}

/**
 * Finds the worker that the beginning of a text names. The name is the first word, or a name of several words. Undefined
 * if no text follows.
 */
export function findWorkerBefore(argument: string, known: KnownWorkers): NamedWorker | undefined {
  const [, word = "", rest = ""] = /^(\S+)\s*([^]*)$/.exec(argument) ?? [];
  const longNames = new Set(known.open.map(({ name }) => name).filter((name) => /\s/.test(name)));
  const splits = [...longNames].flatMap((name) => {
    const text = argument.slice(name.length);
    return argument.startsWith(name) && /^(?:\s|$)/.test(text) ? [{ name, text: text.trim() }] : [];
  });
  if (rest === "" || splits.some(({ text }) => text === "")) return undefined;
  return selectWorker(word, known, [{ name: word, text: rest }, ...splits]);
}

interface Split {
  readonly name: string;
  readonly text: string;
}

function selectWorker(typed: string, known: KnownWorkers, splits: readonly Split[]): NamedWorker {
  const found = splits.flatMap(({ name, text }) =>
    matchWorkers(name, known).map((worker) => ({ worker, text })),
  );
  const [first, ...others] = found;
  if (first === undefined) return { problem: describeUnknown(typed, known.open) };
  if (others.length === 0) return first;
  const candidates = found.map(({ worker }) => describeWorker(worker)).join(", ");
  return {
    problem: `"${toSingleLine(typed)}" names several workers: ${candidates}. Fix: use an id.`,
  };
}

/** An id precedes all other names, and the beginning of an id is the last resort. */
function matchWorkers(name: string, { open, listed }: KnownWorkers): readonly WorkerRow[] {
  const exact = open.filter(({ workerId }) => workerId === name);
  if (exact.length > 0) return exact;
  // A position refers to the list that the person has seen: workers may have ended since.
  const position = /^\d+$/.test(name) ? listed[Number(name) - 1]?.workerId : undefined;
  const named = open.filter((worker) => worker.workerId === position || worker.name === name);
  if (named.length > 0) return named;
  return open.filter(({ workerId }) => name !== "" && workerId.startsWith(name));
}

function describeUnknown(name: string, open: readonly WorkerRow[]): string {
  const names = open.flatMap((worker) => [worker.name, worker.workerId]).map(toSingleLine);
  const fix = "/workers lists the open workers";
  return endSentence(formatUnknownName("Worker", name, { names, where: "in this session", fix }));
}

function endSentence(text: string): string {
  return text.endsWith("?") ? text : `${text}.`;
}

/** `captain (worker_1)`. */
export function describeWorker({ name, workerId }: Pick<WorkerRow, "name" | "workerId">): string {
  return `${toSingleLine(name)} (${toSingleLine(workerId)})`;
}
