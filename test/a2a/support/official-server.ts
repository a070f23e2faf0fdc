import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { onTestFinished } from "vitest";
import { AgentCard, Role, TaskState, type Message, type Part, type TaskStatus } from "@a2a-js/sdk";
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type AgentExecutor,
} from "@a2a-js/sdk/server";
import {
  agentCardHandler,
  jsonRpcHandler,
  restHandler,
  UserBuilder,
} from "@a2a-js/sdk/server/express";

type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
type ExpressApp = RequestListener & { use(path: string, handler: Handler): void };

/** The SDK's handlers need the requests and responses of Express, which has no types of its own. */
const createExpress: () => ExpressApp = createRequire(import.meta.url)("express");

/**
 * Serves the default handler of the official SDK under the given agent card, until the test ends. Its agent replies to
 * a message, and needs input after "pay".
 */
export async function serveOfficial(card: unknown): Promise<{ readonly url: string }> {
  const agentCard = AgentCard.fromJSON(card);
  const requestHandler = new DefaultRequestHandler(
    agentCard,
    new InMemoryTaskStore(),
    HELLO_AGENT,
    undefined,
    undefined,
    undefined,
    async () => agentCard,
    undefined,
    { validateInputModes: true },
  );
  const app = createExpress();
  const userBuilder = UserBuilder.noAuthentication;
  const serveRpc = jsonRpcHandler({ requestHandler, userBuilder, legacyCompat: { enabled: true } });
  const serveHttp = restHandler({ requestHandler, userBuilder });
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/a2a", (request, response, next) =>
    (request.url === "/" ? serveRpc : serveHttp)(request, response, next),
  );
  const server = createServer(app);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${readPort(server)}` };
}

function readPort(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return address.port;
}

const HELLO_AGENT: AgentExecutor = {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    const place = { taskId, contextId, metadata: undefined };
    const sendStatus = (state: TaskState, message?: Message): void =>
      bus.publish(AgentEvent.statusUpdate({ ...place, status: createStatus(state, message) }));
    const history = task?.history ?? [userMessage];
    const status = createStatus(TaskState.TASK_STATE_SUBMITTED);
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status,
        artifacts: [],
        history,
        metadata: undefined,
      }),
    );
    sendStatus(TaskState.TASK_STATE_WORKING);
    const artifact = {
      artifactId: "artifact-1",
      name: "response",
      description: "",
      parts: [createPart("Hi")],
      metadata: undefined,
      extensions: [],
    };
    bus.publish(AgentEvent.artifactUpdate({ ...place, artifact, append: false, lastChunk: true }));
    const [part] = userMessage.parts;
    if (part?.content?.$case === "text" && part.content.value === "pay") {
      const question = createMessage({ taskId, contextId }, "Allow?");
      sendStatus(TaskState.TASK_STATE_INPUT_REQUIRED, question);
      return;
    }
    sendStatus(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  },
  async cancelTask(taskId, bus) {
    const status = createStatus(TaskState.TASK_STATE_CANCELED);
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: "", status, metadata: undefined }));
    bus.finished();
  },
};

function createStatus(state: TaskState, message?: Message): TaskStatus {
  return { state, message, timestamp: new Date().toISOString() };
}

function createMessage(place: Pick<Message, "taskId" | "contextId">, text: string): Message {
  return {
    ...place,
    messageId: "question-1",
    role: Role.ROLE_AGENT,
    parts: [createPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function createPart(text: string): Part {
  const content = { $case: "text", value: text } as const;
  return { content, metadata: undefined, filename: "", mediaType: "" };
}
