import type { JsonObject } from "../../domain/json.ts";
import { operation, type Call, type Operation } from "./call.ts";
import {
  DEFAULT_ENDPOINT,
  notFound,
  withEndpoint,
  withMovedEndpoint,
  withoutEndpoint,
} from "./changes.ts";
import type { ControlParts } from "./control-parts.ts";
import { validationError } from "../validation-error.ts";
import type { Fields } from "./fields.ts";
import type { Harness, HarnessEndpoint } from "./harness-state.ts";
import { numberKey, pageOf, readPageRequest } from "./pages.ts";
import { readHarnessId, readVersion, TAGS } from "./request-members.ts";
import { endpointView } from "./views.ts";

/** The operations on the endpoints of a harness, by the service's model. */
export function endpointOperations(parts: ControlParts): Operation[] {
  const all = "/harnesses/:harnessId/endpoints";
  const one = `${all}/:endpointName`;
  return [
    operation("CreateHarnessEndpoint", `POST ${all}`, 201, (call) => createEndpoint(parts, call)),
    operation("GetHarnessEndpoint", `GET ${one}`, 200, async (call) => getEndpoint(parts, call)),
    operation("UpdateHarnessEndpoint", `PATCH ${one}`, 200, (call) => updateEndpoint(parts, call)),
    operation("DeleteHarnessEndpoint", `DELETE ${one}`, 200, (call) => deleteEndpoint(parts, call)),
    operation("ListHarnessEndpoints", `GET ${all}`, 200, async (call) =>
      listEndpoints(parts, call),
    ),
  ];
}

async function createEndpoint(parts: ControlParts, call: Call): Promise<JsonObject> {
  const { fields, now } = call;
  const { id, name } = readNames(fields);
  const given = {
    name,
    version: readVersion(fields, "targetVersion"),
    description: fields.text("description", DESCRIPTION),
    tags: fields.texts("tags", TAGS) ?? {},
  };
  fields.finish();
  const harness = await parts.changeOnce(call, () =>
    withEndpoint(parts.visible(id, now), given, parts.context(call)),
  );
  return { endpoint: begun(parts, harness, { name, now }) };
}

function getEndpoint(parts: ControlParts, { fields, now }: Call): JsonObject {
  const { id, name } = readNames(fields);
  fields.finish();
  const harness = parts.visible(id, now);
  const endpoint = visibleEndpoint(harness, name, now);
  return { endpoint: endpointView(parts.place, harness, { now, endpoint }) };
}

async function updateEndpoint(parts: ControlParts, call: Call): Promise<JsonObject> {
  const { fields, now } = call;
  const { id, name } = readNames(fields);
  const patch = {
    version: readVersion(fields, "targetVersion"),
    description: fields.text("description", DESCRIPTION),
  };
  fields.finish();
  refuseDefault(name, "updated");
  const harness = await parts.changeOnce(call, () => {
    const harness = parts.visible(id, now);
    visibleEndpoint(harness, name, now);
    return withMovedEndpoint(harness, name, { patch, context: parts.context(call) });
  });
  return { endpoint: begun(parts, harness, { name, now }) };
}

async function deleteEndpoint(parts: ControlParts, call: Call): Promise<JsonObject> {
  const { fields, now } = call;
  const { id, name } = readNames(fields);
  fields.finish();
  refuseDefault(name, "deleted");
  const harness = await parts.changeOnce(call, () => {
    const harness = parts.visible(id, now);
    visibleEndpoint(harness, name, now);
    return withoutEndpoint(harness, name, parts.context(call));
  });
  return { endpoint: begun(parts, harness, { name, now }) };
}

function listEndpoints(parts: ControlParts, { fields, now }: Call): JsonObject {
  const id = readHarnessId(fields);
  const request = readPageRequest(`endpoints of ${id}`, fields);
  const harness = parts.visible(id, now);
  const { items, ...rest } = pageOf(
    harness.endpoints.filter(({ visibleAt }) => now >= visibleAt),
    ({ createdAt, name }) => `${numberKey(createdAt)} ${name}`,
    request,
  );
  return {
    endpoints: items.map((endpoint) => endpointView(parts.place, harness, { now, endpoint })),
    ...rest,
  };
}

/** The answer to a change shows it under way, however little time it takes. */
function begun(
  parts: ControlParts,
  harness: Harness,
  { name, now }: { readonly name: string; readonly now: number },
): JsonObject {
  const endpoint = visibleEndpoint(harness, name, now);
  const change = endpoint.deletion ?? endpoint.moves.at(-1)?.change;
  const isNew = change?.startedAt === now;
  return endpointView(parts.place, harness, { now: isNew ? now - 1 : now, endpoint });
}

function visibleEndpoint(harness: Harness, name: string, now: number): HarnessEndpoint {
  const found = harness.endpoints.find(
    (endpoint) => endpoint.name === name && now >= endpoint.visibleAt,
  );
  if (found === undefined)
    throw notFound(`Endpoint ${name} of harness ${harness.id} does not exist`);
  return found;
}

function readNames(fields: Fields): { readonly id: string; readonly name: string } {
  const name = fields.text("endpointName", ENDPOINT_NAME) ?? fields.missing("endpointName");
  return { id: readHarnessId(fields), name };
}

/** It comes and goes with its harness, and serves its newest version. */
function refuseDefault(name: string, what: string): void {
  if (name !== DEFAULT_ENDPOINT) return;
  throw validationError(`The ${name} endpoint cannot be ${what}`, "ResourceConflict");
}

const ENDPOINT_NAME = { pattern: "[a-zA-Z][a-zA-Z0-9_]{0,47}" };
const DESCRIPTION = { least: 1, most: 256 };
