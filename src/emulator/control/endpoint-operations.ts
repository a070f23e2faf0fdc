import type { JsonObject } from "../../data/json.ts";
import { defineOperation, type OperationRequest, type Operation } from "./operation.ts";
import {
  DEFAULT_ENDPOINT,
  createNotFoundError,
  addEndpoint,
  moveEndpoint,
  removeEndpoint,
} from "./harness-changes.ts";
import type { ControlParts } from "./control-parts.ts";
import { createValidationError } from "../service/validation-error.ts";
import type { RequestFields } from "./request-fields.ts";
import type { Harness, HarnessEndpoint } from "./harness-state.ts";
import { formatNumberKey, paginate, readPageRequest } from "./paginate.ts";
import { readHarnessId, readVersion, TAGS_RULE } from "./request-members.ts";
import { encodeEndpoint } from "./encode-resources.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

/** The endpoint operations of the service model. */
export function defineEndpointOperations(parts: ControlParts): Operation[] {
  const collectionPath = "/harnesses/:harnessId/endpoints";
  const endpointPath = `${collectionPath}/:endpointName`;
  return [
    defineOperation("CreateHarnessEndpoint", `POST ${collectionPath}`, 201, (call) =>
      createEndpoint(parts, call),
    ),
    defineOperation("GetHarnessEndpoint", `GET ${endpointPath}`, 200, async (call) =>
      getEndpoint(parts, call),
    ),
    defineOperation("UpdateHarnessEndpoint", `PATCH ${endpointPath}`, 200, (call) =>
      updateEndpoint(parts, call),
    ),
    defineOperation("DeleteHarnessEndpoint", `DELETE ${endpointPath}`, 200, (call) =>
      deleteEndpoint(parts, call),
    ),
    defineOperation("ListHarnessEndpoints", `GET ${collectionPath}`, 200, async (call) =>
      listEndpoints(parts, call),
    ),
  ];
}

async function createEndpoint(parts: ControlParts, call: OperationRequest): Promise<JsonObject> {
  const { fields, now } = call;
  const { id, name } = readNames(fields);
  const input = {
    name,
    version: readVersion(fields, "targetVersion"),
    description: fields.readText("description", DESCRIPTION_RULE),
    tags: fields.readTextMap("tags", TAGS_RULE) ?? {},
  };
  fields.throwIfInvalid();
  const harness = await parts.changeOnce(call, () =>
    addEndpoint(parts.findVisible(id, now), input, parts.createContext(call)),
  );
  return { endpoint: viewStartedChange(parts, harness, { name, now }) };
}

function getEndpoint(parts: ControlParts, { fields, now }: OperationRequest): JsonObject {
  const { id, name } = readNames(fields);
  fields.throwIfInvalid();
  const harness = parts.findVisible(id, now);
  const endpoint = findVisibleEndpoint(harness, name, now);
  return { endpoint: encodeEndpoint(parts.location, harness, { now, endpoint }) };
}

async function updateEndpoint(parts: ControlParts, call: OperationRequest): Promise<JsonObject> {
  const { fields, now } = call;
  const { id, name } = readNames(fields);
  const patch = {
    version: readVersion(fields, "targetVersion"),
    description: fields.readText("description", DESCRIPTION_RULE),
  };
  fields.throwIfInvalid();
  refuseDefault(name, "updated");
  const harness = await parts.changeOnce(call, () => {
    const harness = parts.findVisible(id, now);
    findVisibleEndpoint(harness, name, now);
    return moveEndpoint(harness, name, { patch, context: parts.createContext(call) });
  });
  return { endpoint: viewStartedChange(parts, harness, { name, now }) };
}

async function deleteEndpoint(parts: ControlParts, call: OperationRequest): Promise<JsonObject> {
  const { fields, now } = call;
  const { id, name } = readNames(fields);
  fields.throwIfInvalid();
  refuseDefault(name, "deleted");
  const harness = await parts.changeOnce(call, () => {
    const harness = parts.findVisible(id, now);
    findVisibleEndpoint(harness, name, now);
    return removeEndpoint(harness, name, parts.createContext(call));
  });
  return { endpoint: viewStartedChange(parts, harness, { name, now }) };
}

function listEndpoints(parts: ControlParts, { fields, now }: OperationRequest): JsonObject {
  const id = readHarnessId(fields);
  const request = readPageRequest(`endpoints of ${id}`, fields);
  const harness = parts.findVisible(id, now);
  const { items, ...rest } = paginate(
    harness.endpoints.filter(({ visibleAt }) => now >= visibleAt),
    ({ createdAt, name }) => `${formatNumberKey(createdAt)} ${name}`,
    request,
  );
  return {
    endpoints: items.map((endpoint) => encodeEndpoint(parts.location, harness, { now, endpoint })),
    ...rest,
  };
}

/** The response to a change always shows the pending status, even if the change takes no time. */
function viewStartedChange(
  parts: ControlParts,
  harness: Harness,
  { name, now }: { readonly name: string; readonly now: number },
): JsonObject {
  const endpoint = findVisibleEndpoint(harness, name, now);
  const change = endpoint.deletion ?? endpoint.moves.at(-1)?.change;
  const isNew = change?.startedAt === now;
  return encodeEndpoint(parts.location, harness, { now: isNew ? now - 1 : now, endpoint });
}

function findVisibleEndpoint(harness: Harness, name: string, now: number): HarnessEndpoint {
  const match = harness.endpoints.find(
    (endpoint) => endpoint.name === name && now >= endpoint.visibleAt,
  );
  if (match === undefined) {
    const where = `in harness "${harness.id}"`;
    throw createNotFoundError(formatUnknownName("Endpoint", name, { where }));
  }
  return match;
}

function readNames(fields: RequestFields): { readonly id: string; readonly name: string } {
  const name =
    fields.readText("endpointName", ENDPOINT_NAME_RULE) ?? fields.refuseMissing("endpointName");
  return { id: readHarnessId(fields), name };
}

/** The DEFAULT endpoint is created and deleted with its harness and always serves the newest version. */
function refuseDefault(name: string, action: string): void {
  if (name !== DEFAULT_ENDPOINT) return;
  throw createValidationError(`The ${name} endpoint cannot be ${action}`, "ResourceConflict");
}

const ENDPOINT_NAME_RULE = { pattern: "[a-zA-Z][a-zA-Z0-9_]{0,47}" };
const DESCRIPTION_RULE = { min: 1, max: 256 };
