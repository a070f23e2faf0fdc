import { isObject, type JsonObject } from "../../../data/json.ts";
import type { PermissionOption, PermissionRequest } from "./read-permission-request.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** What somebody says to a question. */
export type PermissionReply =
  /** This call, and no other. */
  | "allow"
  /** This call and those like it, as far as the option says; this call alone where there is no such option. */
  | "always"
  | "deny"
  /** One of the question's options, by its id. */
  | { readonly option: string }
  /** This call, with other arguments. */
  | { readonly allow: JsonObject }
  | { readonly deny: string };

/** The result of `session/request_permission`; `problem` says why it is an answer that nobody gave. */
export interface PermissionResult {
  readonly result: JsonObject;
  readonly problem?: string;
}

/** Whatever cannot be said with the options that there are is no approval. */
export function encodePermissionResult(
  request: PermissionRequest,
  reply: PermissionReply,
): PermissionResult {
  if (reply === "deny") return encodeRefused(request);
  if (reply === "allow") return encodeAllowed(request, findOnceOption(request));
  if (reply === "always") return encodeAllowed(request, findAlwaysOption(request));
  if ("option" in reply) return encodeChosenOption(request, reply.option);
  if ("deny" in reply) return encodeRefused(request, reply.deny);
  // Whoever has no types can hand in anything.
  return isObject(reply.allow)
    ? encodeEditedArguments(request, reply.allow)
    : encodeUndecidedResult(request, "The arguments are no object");
}

/** The turn that asks is cancelled, and the question with it. */
export function encodeCancelledResult(): JsonObject {
  return { outcome: CANCELLED };
}

/** What is answered where nobody decided. */
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
  // A bridge that offers nothing to choose from takes a bare yes.
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
  return `A plain ${reply} does not say which of the options is meant: ${ids}`;
}

/** An agent that does not know of other arguments would run the call with its own. */
function encodeEditedArguments(request: PermissionRequest, args: JsonObject): PermissionResult {
  if (!request.isFromBridge) {
    return encodeUndecidedResult(request, "The agent takes no other arguments");
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
 * A no. Where the question is not about yes or no, as when it asks what became of a tool, it is put away: an option that is
 * called a rejection would say something that nobody knows.
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
