import type { BridgeOptions } from "../../bridge/bridge-options.ts";
import type { RetentionResult } from "../../bridge/serve/run-up.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface RetentionFlags {
  readonly keepDays?: number;
  readonly keepMb?: number;
}

/** Reads the retention settings; empty without flags, which keeps all sessions. Prints a line after each deletion. */
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
    ...(droppedEvents > 0 ? [formatCount(droppedEvents, "redundant event")] : []),
  ].join(" and ");
  return `Deleted ${removed}; ${(bytes / 1_000_000).toFixed(1)} MB of events remain\n`;
}

function formatCount(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

/** For a joined process: the owner's retention settings apply. Empty without retention flags. */
export function formatRetentionIgnored(
  { keepDays, keepMb }: RetentionFlags,
  ownerPid: number,
): string {
  if (keepDays === undefined && keepMb === undefined) return "";
  return `Process ${ownerPid} runs the sessions, and its retention settings apply; --keep-days and --keep-mb are ignored here\n`;
}
