import { checkString, checkQualifier } from "../check-options.ts";
import {
  encodeHarnessChanges,
  encodeHarness,
  type HarnessChanges,
  type HarnessSpec,
  type Members,
} from "./harness-settings.ts";
import { encodeGetEndpoint, encodeGetHarness } from "../harness/deployed-tools.ts";
import { encodeJsonBody, type WireRequest } from "../wire-request.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** The changeable settings of an endpoint. Default version: the latest. */
export interface EndpointChanges {
  readonly version?: string;
  readonly description?: string;
}

export interface EndpointSpec extends EndpointChanges {
  readonly name: string;
  readonly tags?: { readonly [name: string]: string };
}

/**
 * Encodes CreateHarness. `token` makes the operation idempotent: the service performs a repeated request with the same
 * token once.
 */
export function encodeCreateHarness(spec: HarnessSpec, token: string): WireRequest {
  return createJsonRequest("POST", "/harnesses", { ...encodeHarness(spec), clientToken: token });
}

export function encodeReadHarness(id: string, version?: string): WireRequest {
  const checked = version === undefined ? undefined : checkVersion("version", version);
  return encodeGetHarness(checkHarnessId("id", id), checked);
}

export function encodeUpdateHarness(
  id: string,
  changes: HarnessChanges,
  token: string,
): WireRequest {
  return createJsonRequest("PATCH", formatHarnessPath(id), {
    ...encodeHarnessChanges(changes),
    clientToken: token,
  });
}

export interface DeleteHarnessOptions {
  /** If true, the memory created by the service for the harness is not deleted. Default: false. */
  readonly keepMemory?: boolean;
}

export function encodeDeleteHarness(
  id: string,
  token: string,
  { keepMemory = false }: DeleteHarnessOptions = {},
): WireRequest {
  return createBodilessRequest("DELETE", formatHarnessPath(id), {
    clientToken: token,
    ...(keepMemory && { deleteManagedMemory: "false" }),
  });
}

export function encodeListHarnesses(cursor: string | null): WireRequest {
  return createBodilessRequest("GET", "/harnesses", encodePageQuery(cursor));
}

export function encodeListVersions(id: string, cursor: string | null): WireRequest {
  return createBodilessRequest("GET", `${formatHarnessPath(id)}/versions`, encodePageQuery(cursor));
}

export function encodeCreateEndpoint(
  id: string,
  endpoint: EndpointSpec,
  token: string,
): WireRequest {
  const { name, tags } = endpoint;
  return createJsonRequest("POST", `${formatHarnessPath(id)}/endpoints`, {
    endpointName: checkQualifier("name", name),
    ...encodeEndpointBody(endpoint),
    ...omitUndefined({ tags }),
    clientToken: token,
  });
}

export function encodeReadEndpoint(id: string, name: string): WireRequest {
  return encodeGetEndpoint(checkHarnessId("id", id), checkQualifier("name", name));
}

export interface NamedEndpointChanges {
  readonly name: string;
  readonly changes: EndpointChanges;
}

export function encodeUpdateEndpoint(
  id: string,
  { name, changes }: NamedEndpointChanges,
  token: string,
): WireRequest {
  return createJsonRequest("PATCH", formatEndpointPath(id, name), {
    ...encodeEndpointBody(changes),
    clientToken: token,
  });
}

export function encodeDeleteEndpoint(id: string, name: string, token: string): WireRequest {
  return createBodilessRequest("DELETE", formatEndpointPath(id, name), { clientToken: token });
}

export function encodeListEndpoints(id: string, cursor: string | null): WireRequest {
  return createBodilessRequest(
    "GET",
    `${formatHarnessPath(id)}/endpoints`,
    encodePageQuery(cursor),
  );
}

function encodeEndpointBody({ version, description }: EndpointChanges): Members {
  return {
    ...(version !== undefined && { targetVersion: checkVersion("version", version) }),
    ...omitUndefined({ description }),
  };
}

function formatHarnessPath(id: string): string {
  return `/harnesses/${encodeURIComponent(checkHarnessId("id", id))}`;
}

function formatEndpointPath(id: string, name: string): string {
  return `${formatHarnessPath(id)}/endpoints/${encodeURIComponent(checkQualifier("name", name))}`;
}

const MAX_PAGE_ITEMS = "100";

function encodePageQuery(cursor: string | null): WireRequest["query"] {
  return { maxResults: MAX_PAGE_ITEMS, ...(cursor !== null && { nextToken: cursor }) };
}

function createBodilessRequest(
  method: "GET" | "DELETE",
  path: string,
  query: WireRequest["query"],
): WireRequest {
  return { method, path, query, headers: { accept: "application/json" } };
}

function createJsonRequest(method: "POST" | "PATCH", path: string, body: Members): WireRequest {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return { method, path, query: {}, headers, body: encodeJsonBody(body) };
}

function checkHarnessId(path: string, id: unknown): string {
  const expected = "the id of a harness, such as name-a1b2c3d4e5";
  return checkString(path, id, /^[a-zA-Z][a-zA-Z0-9_]{0,39}-[a-zA-Z0-9]{10}$/, expected);
}

function checkVersion(path: string, version: unknown): string {
  return checkString(path, version, /^[1-9][0-9]{0,4}$/, "the number of a version, from 1");
}
