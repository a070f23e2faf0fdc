import { isObject } from "../../../src/data/json.ts";
import type { Route } from "../../../src/http/routing/router.ts";
import type { ServedResponse, ServedRequest } from "../../../src/http/server/http-types.ts";
import type { SocketRoute } from "../../../src/http/sockets/web-sockets.ts";
import type { ResponsesSurface } from "../../../src/surfaces/responses/responses-surface.ts";
import { eventProblems } from "../open-responses-schema.ts";
import { violationsIn } from "../stream-checker.ts";
import { framedEvents, type StreamEvent } from "./recorded-stream.ts";

/** Wraps a surface and validates every stream which reaches its end; violations are reported. */
export function checkedSurface(
  surface: ResponsesSurface,
  report: (problem: string) => void,
): ResponsesSurface {
  return {
    ...surface,
    routes: surface.routes.map((route) => checkedRoute(route, report)),
    sockets: surface.sockets.map((route) => checkedSocket(route, report)),
  };
}

function checkedRoute(route: Route, report: (problem: string) => void): Route {
  const isOfResponses = /\/responses(?:\/:id)?$/.test(route.path);
  return {
    ...route,
    async handle(request, labels) {
      const answer = await route.handle(request, labels);
      const { body } = answer;
      if (!isOfResponses || body instanceof Uint8Array || !isWhole(request)) return answer;
      return { ...answer, body: checkedBody(body, report) };
    },
  };
}

/** A stream which resumes in the middle has no beginning to validate. */
function isWhole({ query }: ServedRequest): boolean {
  return !query.includes("starting_after");
}

/** Only a complete stream can be validated, so a stream whose reader disconnects early is not checked. */
async function* checkedBody(
  body: Exclude<ServedResponse["body"], Uint8Array>,
  report: (problem: string) => void,
): AsyncGenerator<Uint8Array | string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    pieces.push(Buffer.from(piece));
    yield piece;
  }
  try {
    check(framedEvents(Buffer.concat(pieces).toString("utf8")), report);
  } catch (error) {
    report(String(error));
  }
}

function checkedSocket(route: SocketRoute, report: (problem: string) => void): SocketRoute {
  return {
    ...route,
    async accept(head) {
      const talk = await route.accept(head);
      return (socket) => {
        let events: StreamEvent[] = [];
        return talk({
          ...socket,
          async send(text) {
            const frame: unknown = JSON.parse(text);
            // An outcome of a steer event is between the events of the response, and not one of them.
            if (isSteerOutcome(frame)) return socket.send(text);
            if (isObject(frame) && !("status" in frame)) {
              events.push({ ...frame, type: String(frame["type"]) });
              if (!TERMINAL.has(String(frame["type"]))) return socket.send(text);
              check(events, report);
            }
            events = [];
            return socket.send(text);
          },
        });
      };
    },
  };
}

function isSteerOutcome(frame: unknown): boolean {
  return isObject(frame) && String(frame["type"]).startsWith("response.steer.");
}

const TERMINAL = new Set(["response.completed", "response.failed", "response.incomplete"]);

function check(events: readonly StreamEvent[], report: (problem: string) => void): void {
  for (const violation of violationsIn(events)) report(JSON.stringify(violation));
  // MCP and extension items depend on the trace mode; the core schema does not describe these items.
  if (events.some(isExtended)) return;
  for (const problem of events.flatMap(eventProblems)) report(problem);
}

function isExtended({ type, item }: StreamEvent): boolean {
  if (type.startsWith("response.mcp_call")) return true;
  return isObject(item) && (item["type"] === "mcp_call" || item["type"] === "spanline:tool_call");
}
