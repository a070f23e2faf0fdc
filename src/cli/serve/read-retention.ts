import type { BridgeOptions } from "../../bridge/bridge-options.ts";
import type { RetentionResult } from "../../bridge/serve/run-up.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface RetentionFlags {
  readonly keepDays?: number;
  readonly keepMb?: number;
}

/** What is to be kept, if not everything; a line is said when something was deleted. */
export function readRetention(
  { keepDays, keepMb }: RetentionFlags,
  printLine: (line: string) => void,
): Pick<BridgeOptions, "retention"> {
  if (keepDays === undefined && keepMb === undefined) return {};
  return {
    retention: {
      ...omitUndefined({ keepDays, keepMegabytes: keepMb }),
      onRemoved: (retained) => printLine(formatRemoved(retained)),
    },
  };
}

function formatRemoved({ deletedSessions, droppedEvents, bytes }: RetentionResult): string {
  const removed = [
    ...(deletedSessions > 0 ? [formatCount(deletedSessions, "session")] : []),
    ...(droppedEvents > 0 ? [`${formatCount(droppedEvents, "event")} that others repeat`] : []),
  ].join(" and ");
  return `Deleted ${removed}; ${(bytes / 1_000_000).toFixed(1)} MB of events are kept\n`;
}

function formatCount(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

/** For a process that joined another one, which was told what to keep or was not. */
export function formatRetentionIgnored(
  { keepDays, keepMb }: RetentionFlags,
  ownerPid: number,
): string {
  if (keepDays === undefined && keepMb === undefined) return "";
  return `Process ${ownerPid} runs the sessions: what it was told to keep counts, and not --keep-days or --keep-mb here\n`;
}
