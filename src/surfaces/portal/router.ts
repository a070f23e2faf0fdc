import type { ServedAnswer, ServedRequest } from "../../http/served.ts";
import type { Refusal } from "../../http/server.ts";
import { ApiError, apiErrorOf, errorAnswer } from "./api-error.ts";

export interface Route {
  /** Of an answer to HEAD the server leaves the body out. */
  readonly method: "GET" | "HEAD" | "POST";
  /** A segment that begins with a colon is a label: `/sessions/:id`. */
  readonly path: string;
  handle(request: ServedRequest, labels: Labels): Promise<ServedAnswer>;
}

/** Unescaped. */
export interface Labels {
  readonly [name: string]: string;
}

/** What a server needs to serve routes. */
export interface Router {
  handle(request: ServedRequest): Promise<ServedAnswer>;
  refuse(refusal: Refusal): ServedAnswer;
}

/** Answers by the first route that fits; what goes wrong is answered as JSON. */
export function router(routes: readonly Route[], onBug: (error: unknown) => void): Router {
  return {
    async handle(request) {
      try {
        return await answerOf(routes, request);
      } catch (error) {
        const known = apiErrorOf(error);
        if (known !== undefined) return errorAnswer(known);
        if (!request.gone.aborted) onBug(error);
        return errorAnswer(
          new ApiError(500, "service_failed", "The bridge failed; its log says why"),
        );
      }
    },
    refuse: ({ status, message }) =>
      errorAnswer(
        new ApiError(status, status === 403 ? "access_denied" : "validation_failed", message),
      ),
  };
}

async function answerOf(routes: readonly Route[], request: ServedRequest): Promise<ServedAnswer> {
  const { method, path } = request;
  const fitting = routes.flatMap((route) => {
    const labels = labelsIn(route.path, path);
    return labels === undefined ? [] : [{ route, labels }];
  });
  const match = fitting.find(({ route }) => route.method === method);
  if (match !== undefined) return match.route.handle(request, match.labels);
  if (fitting.length === 0) throw new ApiError(404, "not_found", `There is nothing at ${path}`);
  const allow = fitting.map(({ route }) => route.method).join(", ");
  const message = `${path} takes ${allow}, not ${method}`;
  throw new ApiError(405, "validation_failed", message, { headers: { allow } });
}

function labelsIn(pattern: string, path: string): Labels | undefined {
  const wanted = pattern.split("/");
  const found = path.split("/");
  if (wanted.length !== found.length) return undefined;
  const labels = new Map<string, string>();
  for (const [at, segment] of wanted.entries()) {
    const text = found[at] ?? "";
    if (segment.startsWith(":")) {
      const label = unescaped(text);
      if (label === "") return undefined;
      labels.set(segment.slice(1), label);
    } else if (segment !== text) return undefined;
  }
  return Object.fromEntries(labels);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
