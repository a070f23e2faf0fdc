import { checkText } from "./check.ts";
import {
  changesBody,
  harnessBody,
  type HarnessChanges,
  type HarnessSpec,
  type Members,
} from "./control-settings.ts";
import { getEndpointRequest, getHarnessRequest } from "./deployed-tools.ts";
import { checkQualifier } from "./names.ts";
import { jsonBody, type WireRequest } from "./wire-request.ts";

/** What an endpoint is told to serve. Without a version it is the newest. */
export interface EndpointChanges {
  readonly version?: string;
  readonly description?: string;
}

export interface EndpointSpec extends EndpointChanges {
  readonly name: string;
  readonly tags?: { readonly [name: string]: string };
}

/** `token` makes the service do a thing once, however often it is asked under that token. */
export function createHarnessRequest(spec: HarnessSpec, token: string): WireRequest {
  return sending("POST", "/harnesses", { ...harnessBody(spec), clientToken: token });
}

export function readHarnessRequest(id: string, version?: string): WireRequest {
  const checked = version === undefined ? undefined : checkVersion("version", version);
  return getHarnessRequest(checkHarnessId("id", id), checked);
}

export function updateHarnessRequest(
  id: string,
  changes: HarnessChanges,
  token: string,
): WireRequest {
  return sending("PATCH", harnessPath(id), { ...changesBody(changes), clientToken: token });
}

export interface DeleteHarnessOptions {
  /** Leaves behind the memory that the service made for the harness. */
  readonly keepMemory?: boolean;
}

export function deleteHarnessRequest(
  id: string,
  token: string,
  { keepMemory = false }: DeleteHarnessOptions = {},
): WireRequest {
  return asking("DELETE", harnessPath(id), {
    clientToken: token,
    ...(keepMemory && { deleteManagedMemory: "false" }),
  });
}

export function listHarnessesRequest(cursor: string | null): WireRequest {
  return asking("GET", "/harnesses", pageQuery(cursor));
}

export function listVersionsRequest(id: string, cursor: string | null): WireRequest {
  return asking("GET", `${harnessPath(id)}/versions`, pageQuery(cursor));
}

export function createEndpointRequest(
  id: string,
  endpoint: EndpointSpec,
  token: string,
): WireRequest {
  const { name, tags } = endpoint;
  return sending("POST", `${harnessPath(id)}/endpoints`, {
    endpointName: checkQualifier("name", name),
    ...endpointBody(endpoint),
    ...(tags !== undefined && { tags }),
    clientToken: token,
  });
}

export function readEndpointRequest(id: string, name: string): WireRequest {
  return getEndpointRequest(checkHarnessId("id", id), checkQualifier("name", name));
}

export interface EndpointChange {
  readonly name: string;
  readonly changes: EndpointChanges;
}

export function updateEndpointRequest(
  id: string,
  { name, changes }: EndpointChange,
  token: string,
): WireRequest {
  return sending("PATCH", endpointPath(id, name), { ...endpointBody(changes), clientToken: token });
}

export function deleteEndpointRequest(id: string, name: string, token: string): WireRequest {
  return asking("DELETE", endpointPath(id, name), { clientToken: token });
}

export function listEndpointsRequest(id: string, cursor: string | null): WireRequest {
  return asking("GET", `${harnessPath(id)}/endpoints`, pageQuery(cursor));
}

function endpointBody({ version, description }: EndpointChanges): Members {
  return {
    ...(version !== undefined && { targetVersion: checkVersion("version", version) }),
    ...(description !== undefined && { description }),
  };
}

function harnessPath(id: string): string {
  return `/harnesses/${encodeURIComponent(checkHarnessId("id", id))}`;
}

function endpointPath(id: string, name: string): string {
  return `${harnessPath(id)}/endpoints/${encodeURIComponent(checkQualifier("name", name))}`;
}

const MOST_PER_PAGE = "100";

function pageQuery(cursor: string | null): WireRequest["query"] {
  return { maxResults: MOST_PER_PAGE, ...(cursor !== null && { nextToken: cursor }) };
}

function asking(method: "GET" | "DELETE", path: string, query: WireRequest["query"]): WireRequest {
  return { method, path, query, headers: { accept: "application/json" } };
}

function sending(method: "POST" | "PATCH", path: string, body: Members): WireRequest {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return { method, path, query: {}, headers, body: jsonBody(body) };
}

function checkHarnessId(path: string, id: unknown): string {
  const wanted = "the id of a harness, such as name-a1b2c3d4e5";
  return checkText(path, id, /^[a-zA-Z][a-zA-Z0-9_]{0,39}-[a-zA-Z0-9]{10}$/, wanted);
}

function checkVersion(path: string, version: unknown): string {
  return checkText(path, version, /^[1-9][0-9]{0,4}$/, "the number of a version, from 1");
}
