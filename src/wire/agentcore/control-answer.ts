import { isObject, jsonText, parseJson } from "../../domain/json.ts";
import { providerError, type ProviderError } from "../../domain/provider-error.ts";
import type { Members } from "./control-settings.ts";

/** How a harness, one of its versions or an endpoint stands. */
interface Standing {
  readonly arn: string;
  /** The service's word; null when it gave none. */
  readonly status: string | null;
  /** Why it failed, in the service's words. */
  readonly failureReason: string | null;
  /** In the words of RFC 3339. */
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  /** All of it, as it came. */
  readonly raw: Members;
}

export interface Harness extends Standing {
  readonly id: string;
  readonly name: string;
  readonly version: string | null;
}

export interface Endpoint extends Standing {
  readonly name: string;
  /** What it serves now, and what it was told to serve. */
  readonly liveVersion: string | null;
  readonly targetVersion: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page starts; null when this is the last. */
  readonly next: string | null;
}

/** `operation` is for the error: whoever reads it wants to know which answer was odd. */
export function readHarness(body: string, operation: string): Harness {
  const { harness } = membersOf(body, operation);
  return harnessOf(harness, operation);
}

export function readEndpoint(body: string, operation: string): Endpoint {
  const { endpoint } = membersOf(body, operation);
  return endpointOf(endpoint, operation);
}

/** The answer to a deletion may show what is being deleted, or nothing. */
export function readDeletedHarness(body: string, operation: string): Harness | null {
  if (body.trim() === "") return null;
  const { harness } = membersOf(body, operation);
  return isObject(harness) ? harnessOf(harness, operation) : null;
}

export function readHarnesses(body: string, operation: string): Page<Harness> {
  return pageOf(body, operation, { member: "harnesses", read: harnessOf });
}

export function readVersions(body: string, operation: string): Page<Harness> {
  return pageOf(body, operation, { member: "harnessVersions", read: harnessOf });
}

export function readEndpoints(body: string, operation: string): Page<Endpoint> {
  return pageOf(body, operation, { member: "endpoints", read: endpointOf });
}

function harnessOf(value: unknown, operation: string): Harness {
  const members = isObject(value) ? value : {};
  return {
    id: wanted(members, "harnessId", operation),
    name: wanted(members, "harnessName", operation),
    version: textIn(members, "harnessVersion"),
    ...standingOf(members, operation),
  };
}

function endpointOf(value: unknown, operation: string): Endpoint {
  const members = isObject(value) ? value : {};
  return {
    name: wanted(members, "endpointName", operation),
    liveVersion: textIn(members, "liveVersion"),
    targetVersion: textIn(members, "targetVersion"),
    ...standingOf(members, operation),
  };
}

function standingOf(members: Members, operation: string): Standing {
  return {
    arn: wanted(members, "arn", operation),
    status: textIn(members, "status"),
    failureReason: textIn(members, "failureReason"),
    createdAt: textIn(members, "createdAt"),
    updatedAt: textIn(members, "updatedAt"),
    raw: members,
  };
}

interface PageReading<Item> {
  readonly member: string;
  readonly read: (value: unknown, operation: string) => Item;
}

function pageOf<Item>(
  body: string,
  operation: string,
  { member, read }: PageReading<Item>,
): Page<Item> {
  const { [member]: found, nextToken } = membersOf(body, operation);
  // A list that is empty may be left out.
  const list = found ?? [];
  if (!Array.isArray(list)) throw unexpected(operation, `${member} is no list`, body);
  return {
    items: list.map((item) => read(item, operation)),
    next: typeof nextToken === "string" && nextToken !== "" ? nextToken : null,
  };
}

function membersOf(body: string, operation: string): Members {
  const parsed = parseJson(body);
  if (!parsed.ok) throw unexpected(operation, `the answer is no JSON (${parsed.reason})`, body);
  if (isObject(parsed.value)) return parsed.value;
  throw unexpected(operation, "the answer is no object", body);
}

function wanted(members: Members, name: string, operation: string): string {
  const text = textIn(members, name);
  if (text !== null && text !== "") return text;
  throw unexpected(operation, `the answer has no "${name}" where one must be`, jsonText(members));
}

function textIn(members: Members, name: string): string | null {
  const value = members[name];
  return typeof value === "string" ? value : null;
}

function unexpected(operation: string, problem: string, body: string): ProviderError {
  const details = { operation, body: body.slice(0, QUOTED_CHARACTERS) };
  const message = `${operation} was answered with success, but ${problem}`;
  return providerError("unexpected_answer", message, { phase: "http", details });
}

const QUOTED_CHARACTERS = 1024;
