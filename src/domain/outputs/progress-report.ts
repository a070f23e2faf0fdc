import { isObject, toJsonText, type JsonObject } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";
import { formatNames } from "../../text/unknown-name.ts";

/** The runtime tool with which an agent reports its progress. */
export const AGENT_PROGRESS_TOOL = "agent_progress";

/** Progress which the agent reports in its own words. */
export interface ProgressReport {
  readonly message: string;
  /** `narration` for the agent's own words. */
  readonly phase: string;
  /** In units defined by the agent. Null if unknown. */
  readonly progress: number | null;
  readonly total: number | null;
  readonly data: JsonObject | null;
}

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A log entry for hosts. */
export interface LogReport {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: JsonObject;
}

export const MAX_REPORT_LENGTH = 4000;
/** Characters of `data` and `fields` as JSON. */
const MAX_REPORT_DATA = 16 * 1024;

/** Reads a progress report. Returns the problem as a string. */
export function readProgressReport(value: unknown): ProgressReport | string {
  if (!isObject(value)) return `the progress is ${formatValue(value)}: expected an object`;
  const { message, phase = "narration", progress = null, total = null, data = null } = value;
  const problem = findMessageProblem(message) ?? findDataProblem("data", data);
  if (problem !== undefined) return problem;
  if (typeof phase !== "string" || phase.length > 100)
    return `phase is ${formatValue(phase)}: expected at most 100 characters`;
  if (!isAmount(progress)) return `progress is ${formatValue(progress)}: expected a finite number`;
  if (!isAmount(total)) return `total is ${formatValue(total)}: expected a finite number`;
  return {
    message: String(message),
    phase,
    progress,
    total,
    data: isJsonObject(data) ? data : null,
  };
}

/** Reads a log entry. Returns the problem as a string. */
export function readLogReport(value: unknown): LogReport | string {
  if (!isObject(value)) return `the log entry is ${formatValue(value)}: expected an object`;
  const { message, fields = {} } = value;
  const level = LOG_LEVELS.find((known) => known === value["level"]);
  if (level === undefined)
    return `level is ${formatValue(value["level"])}: expected ${formatNames(LOG_LEVELS)}`;
  const problem = findMessageProblem(message) ?? findDataProblem("fields", fields);
  if (problem !== undefined) return problem;
  return { level, message: String(message), fields: isJsonObject(fields) ? fields : {} };
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function isAmount(value: unknown): value is number | null {
  return value === null || (typeof value === "number" && Number.isFinite(value));
}

function findMessageProblem(message: unknown): string | undefined {
  const isText = typeof message === "string" && message.trim() !== "";
  if (isText && message.length <= MAX_REPORT_LENGTH) return undefined;
  return `message is ${formatValue(message)}: expected 1 to ${MAX_REPORT_LENGTH} characters`;
}

function findDataProblem(name: string, value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return `${name} is ${formatValue(value)}: expected an object`;
  if (toJsonText(value).length <= MAX_REPORT_DATA) return undefined;
  return `${name} is longer than ${MAX_REPORT_DATA} characters as JSON`;
}

/** Formats progress in one line, such as `Reading (3 of 10)`. */
export function formatProgress({ message, progress, total }: ProgressReport): string {
  if (progress === null) return message;
  return `${message} (${progress}${total === null ? "" : ` of ${total}`})`;
}
