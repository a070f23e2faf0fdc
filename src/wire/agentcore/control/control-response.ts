import { isObject, toJsonText, parseJson } from "../../../data/json.ts";
import {
  createProviderError,
  type ProviderError,
} from "../../../domain/provider/provider-error.ts";
import type { Members } from "./harness-settings.ts";

/** The status of a harness, a harness version or an endpoint. */
interface ResourceStatus {
  readonly arn: string;
  /** The status as sent by the service. Null if absent. */
  readonly status: string | null;
  /** The reason of a failure as sent by the service. Null if absent. */
  readonly failureReason: string | null;
  /** RFC 3339. Null if absent. */
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  /** The complete object as received. */
  readonly raw: Members;
}

export interface Harness extends ResourceStatus {
  readonly id: string;
  readonly name: string;
  readonly version: string | null;
}

export interface Endpoint extends ResourceStatus {
  readonly name: string;
  /** The version currently served. `targetVersion` is the version to be served after the current update. */
  readonly liveVersion: string | null;
  readonly targetVersion: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page. Null on the last page. */
  readonly nextCursor: string | null;
}

/** Reads the response of a harness operation. `operation` names the operation in errors. */
export function readHarness(body: string, operation: string): Harness {
  const { harness } = parseMembers(body, operation);
  return toHarness(harness, operation);
}

export function readEndpoint(body: string, operation: string): Endpoint {
  const { endpoint } = parseMembers(body, operation);
  return toEndpoint(endpoint, operation);
}

/** Reads the response of a deletion. Null if the service returns no body or no harness. */
export function readDeletedHarness(body: string, operation: string): Harness | null {
  if (body.trim() === "") return null;
  const { harness } = parseMembers(body, operation);
  return isObject(harness) ? toHarness(harness, operation) : null;
}

export function readHarnesses(body: string, operation: string): Page<Harness> {
  return readPage(body, operation, { member: "harnesses", read: toHarness });
}

export function readVersions(body: string, operation: string): Page<Harness> {
  return readPage(body, operation, { member: "harnessVersions", read: toHarness });
}

export function readEndpoints(body: string, operation: string): Page<Endpoint> {
  return readPage(body, operation, { member: "endpoints", read: toEndpoint });
}

function toHarness(value: unknown, operation: string): Harness {
  const members = isObject(value) ? value : {};
  return {
    id: requireString(members, "harnessId", operation),
    name: requireString(members, "harnessName", operation),
    version: readOptionalString(members, "harnessVersion"),
    ...toResourceStatus(members, operation),
  };
}

function toEndpoint(value: unknown, operation: string): Endpoint {
  const members = isObject(value) ? value : {};
  return {
    name: requireString(members, "endpointName", operation),
    liveVersion: readOptionalString(members, "liveVersion"),
    targetVersion: readOptionalString(members, "targetVersion"),
    ...toResourceStatus(members, operation),
  };
}

function toResourceStatus(members: Members, operation: string): ResourceStatus {
  return {
    arn: requireString(members, "arn", operation),
    status: readOptionalString(members, "status"),
    failureReason: readOptionalString(members, "failureReason"),
    createdAt: readOptionalString(members, "createdAt"),
    updatedAt: readOptionalString(members, "updatedAt"),
    raw: members,
  };
}

interface PageReader<Item> {
  readonly member: string;
  readonly read: (value: unknown, operation: string) => Item;
}

function readPage<Item>(
  body: string,
  operation: string,
  { member, read }: PageReader<Item>,
): Page<Item> {
  const { [member]: entries, nextToken } = parseMembers(body, operation);
  // The service may omit an empty list.
  const list = entries ?? [];
  if (!Array.isArray(list))
    throw createUnexpectedResponseError(operation, `${member} is not a list`, body);
  return {
    items: list.map((item) => read(item, operation)),
    nextCursor: typeof nextToken === "string" && nextToken !== "" ? nextToken : null,
  };
}

function parseMembers(body: string, operation: string): Members {
  const parsed = parseJson(body);
  if (!parsed.ok)
    throw createUnexpectedResponseError(operation, `the body is not JSON (${parsed.reason})`, body);
  if (isObject(parsed.value)) return parsed.value;
  throw createUnexpectedResponseError(operation, "the body is not an object", body);
}

function requireString(members: Members, name: string, operation: string): string {
  const text = readOptionalString(members, name);
  if (text !== null && text !== "") return text;
  throw createUnexpectedResponseError(operation, `the body has no "${name}"`, toJsonText(members));
}

function readOptionalString(members: Members, name: string): string | null {
  const value = members[name];
  return typeof value === "string" ? value : null;
}

function createUnexpectedResponseError(
  operation: string,
  problem: string,
  body: string,
): ProviderError {
  const details = { operation, body: body.slice(0, MAX_QUOTED_CHARACTERS) };
  const message = `${operation} returned a success status, but ${problem}`;
  return createProviderError("unexpected_answer", message, { phase: "http", details });
}

const MAX_QUOTED_CHARACTERS = 1024;
