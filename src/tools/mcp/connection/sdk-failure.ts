import { formatThrown, type SpanlineError } from "../../../domain/errors.ts";
import type { RedactSecrets } from "../../../data/secret-redactor.ts";
import { ResponseTooLargeError } from "../../../platform/bounded-fetch.ts";
import { cleanLine } from "../../../text/clean-text.ts";
import { MCP_LIMITS } from "../mcp-limits.ts";
import type { McpServerSettings } from "../mcp-server-settings.ts";
import type { Sdk } from "../mcp-sdk.ts";
import { isServerFailure, createServerFailure } from "./server-failure.ts";

export interface FailureContext {
  readonly sdk: Sdk;
  /** Some errors contain text from the server. */
  readonly scrub: RedactSecrets;
}

/** Converts an error of the SDK to a server failure. */
export function toServerFailure(
  error: unknown,
  settings: McpServerSettings,
  { sdk, scrub }: FailureContext,
): SpanlineError {
  if (isServerFailure(error)) return error;
  const errorText = cleanLine(scrub(formatThrown(error)), 500);
  const { name } = settings;
  const status = readHttpStatus(error, sdk);
  if (error instanceof sdk.SseError && status === undefined) {
    return createServerFailure(
      name,
      "unreachable",
      `closed its stream at ${formatAddress(settings)}`,
    );
  }
  if (status !== undefined) return createStatusFailure(status, errorText, settings);
  if (error instanceof sdk.UnauthorizedError || error instanceof sdk.InsufficientScopeError) {
    return createStatusFailure(401, errorText, settings);
  }
  if (error instanceof sdk.ProtocolError) {
    const message = `refused: ${errorText} (error ${error.code})`;
    return createServerFailure(name, "protocol", message, { errorCode: error.code });
  }
  const cause = error instanceof Error ? error.cause : undefined;
  if (error instanceof ResponseTooLargeError || cause instanceof ResponseTooLargeError) {
    const message = `sent a message of more than ${MCP_LIMITS.messageBytes} bytes`;
    return createServerFailure(name, "too-large", message);
  }
  if (error instanceof TypeError && cause !== undefined) {
    const reason = readErrorCode(cause) ?? scrub(formatThrown(cause));
    const message = `cannot be reached at ${formatAddress(settings)}: ${cleanLine(reason, 200)}`;
    return createServerFailure(name, "unreachable", message, {
      networkError: readErrorCode(cause),
    });
  }
  return createServerFailure(name, "protocol", `violates the protocol: ${errorText}`);
}

/** The HTTP status of a refused request. Undefined for any other error. */
export function readHttpStatus(error: unknown, sdk: Sdk): number | undefined {
  if (error instanceof sdk.SdkHttpError) return error.status;
  if (error instanceof sdk.SseError) return error.code;
  return undefined;
}

function createStatusFailure(
  status: number,
  errorText: string,
  settings: McpServerSettings,
): SpanlineError {
  const where = formatAddress(settings);
  if (status === 401 || status === 403) {
    const message = `requires authentication (HTTP ${status} from ${where}). Fix: set a token in headers, such as Authorization`;
    return createServerFailure(settings.name, "auth-needed", message, { status });
  }
  const message = `returned HTTP ${status} at ${where}: ${errorText}`;
  return createServerFailure(settings.name, "http-status", message, { status });
}

/** The address without its query, which may contain a secret. */
function formatAddress(settings: McpServerSettings): string {
  if (settings.type === "stdio") return settings.command;
  const { origin, pathname } = new URL(settings.url);
  return `${origin}${pathname}`;
}

function readErrorCode(error: unknown): string | undefined {
  const { code } = Object(error);
  return typeof code === "string" ? code : undefined;
}
