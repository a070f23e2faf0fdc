import { thrownMessage, type SpanlineError } from "../../domain/errors.ts";
import type { Scrub } from "../../domain/scrubber.ts";
import { AnswerTooLargeError } from "../../platform/bounded-fetch.ts";
import { cleanLine } from "./clean-text.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import type { Sdk } from "./sdk.ts";
import { isServerFailure, serverFailure } from "./server-failure.ts";

export interface FailureWork {
  readonly sdk: Sdk;
  /** What the server said is in some errors. */
  readonly scrub: Scrub;
}

/** What the SDK threw, as the failure of a server. */
export function failureOf(
  error: unknown,
  settings: McpServerSettings,
  { sdk, scrub }: FailureWork,
): SpanlineError {
  if (isServerFailure(error)) return error;
  const said = cleanLine(scrub(thrownMessage(error)), 500);
  const { name } = settings;
  const status = statusOf(error, sdk);
  if (error instanceof sdk.SseError && status === undefined) {
    return serverFailure(name, "unreachable", `broke off its stream at ${addressOf(settings)}`);
  }
  if (status !== undefined) return statusFailure(status, said, settings);
  if (error instanceof sdk.UnauthorizedError || error instanceof sdk.InsufficientScopeError) {
    return statusFailure(401, said, settings);
  }
  if (error instanceof sdk.ProtocolError) {
    const message = `refused: ${said} (error ${error.code})`;
    return serverFailure(name, "protocol", message, { errorCode: error.code });
  }
  const cause = error instanceof Error ? error.cause : undefined;
  if (error instanceof AnswerTooLargeError || cause instanceof AnswerTooLargeError) {
    const message = `sent a message of more than ${MCP_LIMITS.messageBytes} bytes`;
    return serverFailure(name, "too-large", message);
  }
  if (error instanceof TypeError && cause !== undefined) {
    const reason = codeOf(cause) ?? scrub(thrownMessage(cause));
    const message = `cannot be reached at ${addressOf(settings)}: ${cleanLine(reason, 200)}`;
    return serverFailure(name, "unreachable", message, { networkError: codeOf(cause) });
  }
  return serverFailure(name, "protocol", `does not speak as it should: ${said}`);
}

/** The status with which a server refused a request over HTTP. */
export function statusOf(error: unknown, sdk: Sdk): number | undefined {
  if (error instanceof sdk.SdkHttpError) return error.status;
  if (error instanceof sdk.SseError) return error.code;
  return undefined;
}

function statusFailure(status: number, said: string, settings: McpServerSettings): SpanlineError {
  const where = addressOf(settings);
  if (status === 401 || status === 403) {
    const message = `wants to know who asks (HTTP ${status} from ${where}); give it a token with headers, such as Authorization`;
    return serverFailure(settings.name, "auth-needed", message, { status });
  }
  const message = `answered HTTP ${status} at ${where}: ${said}`;
  return serverFailure(settings.name, "http-status", message, { status });
}

/** Without what may be a secret in it. */
function addressOf(settings: McpServerSettings): string {
  if (settings.type === "stdio") return settings.command;
  const { origin, pathname } = new URL(settings.url);
  return `${origin}${pathname}`;
}

function codeOf(error: unknown): string | undefined {
  const { code } = Object(error);
  return typeof code === "string" ? code : undefined;
}
