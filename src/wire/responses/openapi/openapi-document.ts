import { RESPONSE_SCHEMAS } from "./response-schemas.ts";
import { OPERATIONS, type Operation } from "./operations.ts";
import { REQUEST_SCHEMAS } from "./request-schemas.ts";
import { ref } from "./schema-builders.ts";

/** Creates the OpenAPI description of the HTTP surface. */
export function createOpenApiDocument(version: string) {
  const paths = new Map<string, { [method: string]: object }>();
  for (const operation of OPERATIONS) {
    const { path, method } = operation;
    paths.set(path, { ...paths.get(path), [method]: describeOperation(operation) });
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Spanline",
      version,
      description: "Agents for clients of Open Responses and chat completions.",
    },
    servers: [{ url: "/v1" }, { url: "/" }],
    security: [{ key: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      schemas: { ...REQUEST_SCHEMAS, ...RESPONSE_SCHEMAS },
    },
  } as const;
}

function describeOperation(operation: Operation): object {
  const { id, summary, body, response, isStreamed, isUnsupported, path, query = [] } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const parameters = [
    ...inPath.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...query.map((name) => ({ name, in: "query", required: false, schema: { type: "string" } })),
  ];
  const stream = { "text/event-stream": { schema: { type: "string" } } };
  return {
    operationId: id,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: true, content: createJsonContent(body) },
    }),
    responses: {
      ...(isUnsupported !== true && {
        200: {
          description: "Success.",
          content: { ...createJsonContent(response), ...(isStreamed && stream) },
        },
      }),
      default: { description: "An error.", content: createJsonContent("Error") },
    },
  };
}

function createJsonContent(name: string): object {
  return { "application/json": { schema: ref(name) } };
}
