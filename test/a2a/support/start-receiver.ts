import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface ReceivedPush {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // Untyped: tests read any field.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

/** Answers one request. */
export type Answer = (response: ServerResponse) => void;

export const answers = (status: number): Answer => {
  return (response) => void response.writeHead(status, { location: "/elsewhere" }).end();
};
export const neverAnswers: Answer = () => {};
/** Sends bytes until the other side closes the connection. */
export const answersWithoutEnd: Answer = (response) => {
  response.writeHead(200);
  const write = (): void => {
    if (response.destroyed) return;
    if (response.write("x".repeat(65_536))) setImmediate(write);
    else response.once("drain", write);
  };
  write();
};

export interface Receiver {
  readonly url: string;
  readonly received: readonly ReceivedPush[];
}

/** A receiver of push notifications. The planned answers are used first, then `otherwise`. */
export async function startReceiver(
  planned: Answer[] = [],
  otherwise: (push: ReceivedPush, response: ServerResponse) => void = (_, response) =>
    answers(204)(response),
): Promise<Receiver> {
  const received: ReceivedPush[] = [];
  const server = createServer((request, response) => {
    response.on("error", () => {});
    void text(request)
      .then((body) => {
        const { headers, url: path = "" } = request;
        const push = { path, headers, body, json: JSON.parse(body) };
        received.push(push);
        const answer = planned.shift();
        if (answer === undefined) otherwise(push, response);
        else answer(response);
        return undefined;
      })
      .catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received };
}

/** The state or the kind of a notification of version 1.0. */
export function describePush({ json }: ReceivedPush): string {
  const { task, statusUpdate, artifactUpdate } = json;
  const { state } = (statusUpdate ?? task)?.status ?? {};
  if (artifactUpdate !== undefined)
    return `artifact ${artifactUpdate.artifact.parts.map((part: { text: string }) => part.text).join("")}`;
  return `${task === undefined ? "status" : "task"} ${String(state).replace("TASK_STATE_", "")}`;
}
