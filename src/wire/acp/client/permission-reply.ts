import { isObject, type JsonObject } from "../../../data/json.ts";
import type { PermissionOption, PermissionRequest } from "./read-permission-request.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** A user's reply to a permission request. */
export type PermissionReply =
  /** Allows this tool call only. */
  | "allow"
  /**
   * Allows this tool call and similar tool calls, as described by the `allow_always` option. Allows only this tool call
   * if there is no such option.
   */
  | "always"
  | "deny"
  /** Selects an option by its id. */
  | { readonly option: string }
  /** Allows this tool call with edited arguments. */
  | { readonly allow: JsonObject }
  | { readonly deny: string };

/**
 * The result of `session/request_permission`. `problem` explains why the user's reply could not be sent unchanged.
 * Absent if the reply was sent as it is.
 */
export interface PermissionResult {
  readonly result: JsonObject;
  readonly problem?: string;
}

/** Encodes a reply. A reply that the offered options cannot express is never encoded as an approval. */
export function encodePermissionResult(
  request: PermissionRequest,
  reply: PermissionReply,
): PermissionResult {
  if (reply === "deny") return encodeRefused(request);
  if (reply === "allow") return encodeAllowed(request, findOnceOption(request));
  if (reply === "always") return encodeAllowed(request, findAlwaysOption(request));
  if ("option" in reply) return encodeChosenOption(request, reply.option);
  if ("deny" in reply) return encodeRefused(request, reply.deny);
  // Callers in plain JavaScript may pass any value.
  return isObject(reply.allow)
    ? encodeEditedArguments(request, reply.allow)
    : encodeUndecidedResult(request, "The arguments are not an object");
}

/** Encodes the result for a request whose turn was cancelled. */
export function encodeCancelledResult(): JsonObject {
  return { outcome: CANCELLED };
}

/** Encodes a denial because no valid decision was made. */
export function encodeUndecidedResult(
  request: PermissionRequest,
  problem: string,
): PermissionResult {
  return { result: encodeDenied(request, problem), problem };
}

function encodeChosenOption(request: PermissionRequest, id: string): PermissionResult {
  const isOffered = request.options.some((option) => option.id === id);
  return isOffered
    ? { result: encodeSelected(id) }
    : encodeUndecidedResult(request, `The option ${JSON.stringify(id)} was not offered`);
}

function encodeAllowed(
  request: PermissionRequest,
  option: PermissionOption | undefined,
): PermissionResult {
  if (option !== undefined) return { result: encodeSelected(option.id) };
  // A bridge without options accepts a `selected` outcome without an option id.
  if (request.options.length === 0) return { result: { outcome: { outcome: "selected" } } };
  return encodeUndecidedResult(request, describeAmbiguousReply("yes", request));
}

function encodeRefused(request: PermissionRequest, reason?: string): PermissionResult {
  const result = encodeDenied(request, reason);
  return request.isYesOrNo
    ? { result }
    : { result, problem: describeAmbiguousReply("no", request) };
}

function describeAmbiguousReply(reply: "yes" | "no", { options }: PermissionRequest): string {
  const ids = options.map(({ id }) => id).join(", ");
  return `A plain ${reply} is ambiguous: expected one of ${ids}`;
}

/**
 * Encodes edited arguments. Only bridges support them; any other agent would run the tool call with the original
 * arguments, so the reply becomes a denial.
 */
function encodeEditedArguments(request: PermissionRequest, args: JsonObject): PermissionResult {
  if (!request.isFromBridge) {
    return encodeUndecidedResult(request, "The agent does not accept edited arguments");
  }
  const { result, problem } = encodeAllowed(request, findOnceOption(request));
  return problem === undefined
    ? { result: { ...result, granted: true, args } }
    : { result, problem };
}

function findOnceOption({ options, isYesOrNo }: PermissionRequest): PermissionOption | undefined {
  return isYesOrNo ? options.find(({ kind }) => kind === "allow_once") : undefined;
}

function findAlwaysOption(request: PermissionRequest): PermissionOption | undefined {
  const always = request.options.filter(({ kind }) => kind === "allow_always");
  return always.length === 1 ? always[0] : findOnceOption(request);
}

/**
 * Encodes a denial. A question that is not about yes or no, such as the outcome of an interrupted tool, is cancelled
 * instead: selecting a rejecting option would state an outcome that the user did not confirm.
 */
function encodeDenied(request: PermissionRequest, reason?: string): JsonObject {
  const { options, isFromBridge, isYesOrNo } = request;
  const rejecting =
    options.find(({ kind }) => kind === "reject_once") ??
    options.find(({ kind }) => kind === "reject_always");
  const answer =
    rejecting !== undefined && isYesOrNo ? encodeSelected(rejecting.id) : { outcome: CANCELLED };
  if (!isFromBridge || !isYesOrNo) return answer;
  return { ...answer, granted: false, ...omitUndefined({ reason }) };
}

function encodeSelected(optionId: string): JsonObject {
  return { outcome: { outcome: "selected", optionId } };
}

const CANCELLED: JsonObject = { outcome: "cancelled" };
