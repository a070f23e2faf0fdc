import type { Fields } from "./recorded-stream.ts";
import { COMPACTABLE, user, type ComplianceTest } from "./compliance-test.ts";
import { openSocket, type TurnSocket } from "./turn-socket.ts";
import { answered, check, completed, itemsOf, shaped, textOf, type Target } from "./target.ts";

const NOT_FOUND = "previous_response_not_found";

export const websocketTests: readonly ComplianceTest[] = [
  {
    id: "websocket-response",
    run: withSocket(async (socket) => {
      completed(await socket.completed({ input: [user("Say hello.")] }));
    }),
  },
  {
    id: "websocket-sequential-responses",
    run: withSocket(async (socket) => {
      const ask = { input: [user("Say hello.")], store: false };
      const first = completed(await socket.completed(ask));
      const second = completed(await socket.completed(ask));
      check(first["id"] !== second["id"], "Two responses have the same id");
    }),
  },
  {
    id: "websocket-continuation",
    run: withSocket(async (socket) => {
      const first = await remembered(socket);
      const second = await socket.completed(next(first, "What did I ask you to remember?"));
      const text = textOf(completed(second));
      check(text.includes("heliotrope"), `The agent forgot the code word, and says: ${text}`);
    }),
  },
  {
    id: "websocket-reconnect-store-false-recovery",
    async run(target) {
      let first: Fields = {};
      await withSocket(async (socket) => void (first = await remembered(socket)))(target);
      await withSocket(async (socket) => {
        await failsWith(socket, next(first, "What did I ask you to remember?"), NOT_FOUND);
        completed(await socket.completed({ input: [user("Say hello.")] }));
      })(target);
    },
  },
  {
    id: "websocket-previous-response-not-found",
    run: withSocket(async (socket) => {
      await failsWith(socket, next({ id: "resp_never_issued" }, "Say hello."), NOT_FOUND);
    }),
  },
  {
    id: "websocket-failed-continuation-evicts-cache",
    run: withSocket(async (socket) => {
      const first = await remembered(socket);
      const output = { type: "function_call_output", call_id: "call_nowhere", output: "{}" };
      await failsWith(socket, { ...next(first, ""), input: [output] });
      await failsWith(socket, next(first, "What did I ask you to remember?"), NOT_FOUND);
    }),
  },
  {
    id: "websocket-compact-new-chain",
    async run(target) {
      const compacted = await answered(
        target,
        "/responses/compact",
        COMPACTABLE,
        "CompactResource",
      );
      const input = [...itemsOf(compacted), user("What is my name?")];
      await withSocket(async (socket) => {
        const text = textOf(completed(await socket.completed({ input, tools: [] })));
        check(text.includes("Alice"), `Compaction lost what was said; the agent says: ${text}`);
      })(target);
    },
  },
  {
    id: "websocket-forbidden-fields",
    run: withSocket(async (socket) => {
      const forbidden = { stream: true, stream_options: {}, background: false };
      for (const [field, value] of Object.entries(forbidden)) {
        const { error, status } = await failure(socket, {
          input: [user("Say hello.")],
          [field]: value,
        });
        check(status === 400, `${field} is answered with the status ${String(status)}`);
        check(error.includes(field), `The refusal does not name ${field}: ${error}`);
      }
    }),
  },
  {
    id: "websocket-error-envelopes",
    async run() {
      for (const [status, code] of [
        [400, NOT_FOUND],
        [400, "websocket_connection_limit_reached"],
      ] as const) {
        const error = { type: "invalid_request_error", code, message: "No", param: null };
        shaped("SocketError", { type: "error", status, error });
      }
    },
  },
];

function remembered(socket: TurnSocket): Promise<Fields> {
  const input = [user("Remember the code word heliotrope.")];
  return socket.completed({ input, store: false }).then(completed);
}

function next({ id }: Fields, text: string) {
  return { previous_response_id: id, store: false, input: [user(text)] };
}

async function failsWith(socket: TurnSocket, body: object, code?: string): Promise<void> {
  const { error } = await failure(socket, body);
  check(code === undefined || error.includes(`"${code}"`), `Wanted ${code}, got ${error}`);
}

async function failure(socket: TurnSocket, body: object) {
  const { refusal, response } = await socket.turn(body);
  const failed = refusal ?? response;
  check(failed?.["error"] instanceof Object, `It did not fail: ${JSON.stringify(failed)}`);
  return { error: JSON.stringify(failed["error"]), status: failed["status"] };
}

function withSocket(run: (socket: TurnSocket) => Promise<void>) {
  return async (target: Target): Promise<void> => {
    const socket = await openSocket(target);
    try {
      await run(socket);
    } finally {
      socket.close();
    }
  };
}
