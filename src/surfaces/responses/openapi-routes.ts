import type { GuardedRoute } from "../../http/guarded-routes.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import { packageVersion } from "../../platform/package-version.ts";
import { openApiDocument } from "../../wire/responses/openapi/openapi-document.ts";

/** The surface, described for programs. */
export function openApiRoutes(): GuardedRoute[] {
  return [
    {
      method: "GET",
      path: "/openapi.json",
      async handle() {
        return jsonAnswer(200, openApiDocument(packageVersion()));
      },
    },
  ];
}
