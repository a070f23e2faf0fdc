import type { GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import { readPackageVersion } from "../../../platform/package-version.ts";
import { createOpenApiDocument } from "../../../wire/responses/openapi/openapi-document.ts";

/** The surface, described for programs. */
export function createOpenApiRoutes(): GuardedRoute[] {
  return [
    {
      method: "GET",
      path: "/openapi.json",
      async handle() {
        return createJsonResponse(200, createOpenApiDocument(readPackageVersion()));
      },
    },
  ];
}
