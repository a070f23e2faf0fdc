import { A2aError } from "../../../wire/a2a/a2a-error.ts";
import type { ProtocolVersion } from "../../../wire/a2a/dialect.ts";
import { encodePushConfig, encodePushConfigs } from "../../../wire/a2a/push/push-config.ts";
import {
  readCreatePushRequest,
  readPushRequest,
  readPushTaskRequest,
} from "../../../wire/a2a/push/push-requests.ts";
import type { A2aOptions } from "../a2a-context.ts";
import type { CallContext } from "../call-context.ts";
import { findTask } from "../stored-task.ts";
import type { PushService } from "./push-service.ts";

/** The operations for push notification configs, with the parameters and results of the caller's version. */
export interface PushOperations {
  create: PushOperation;
  get: PushOperation;
  list: PushOperation;
  delete: PushOperation;
}

type PushOperation = (params: unknown, context: CallContext) => Promise<object | null>;

export function createPushOperations({ sessions, push }: A2aOptions): PushOperations {
  if (push === undefined) return { create: refuse, get: refuse, list: refuse, delete: refuse };
  return {
    async create(params, { caller, version }) {
      const { taskId, config } = readCreatePushRequest(params);
      const task = await findTask(sessions, taskId, caller);
      const created = { task, taskId, config, version, isFromStart: false };
      return encodePushConfig(await push.create(created, caller), taskId, version);
    },
    async get(params, { caller, version }) {
      const { taskId, configId } = readPushRequest(params, version);
      return encodePushConfig(await push.get(taskId, configId, caller), taskId, version);
    },
    async list(params, { caller, version }) {
      const { taskId } = readPushTaskRequest(params, version);
      return encodePushConfigs(await push.list(taskId, caller), taskId, version);
    },
    async delete(params, { caller, version }) {
      const { taskId, configId } = readPushRequest(params, version);
      await push.delete(taskId, configId, caller);
      return EMPTY_RESULTS[version];
    },
  };
}

const EMPTY_RESULTS: { readonly [Version in ProtocolVersion]: object | null } = {
  "1.0": {},
  "0.3": null,
};

async function refuse(): Promise<never> {
  throw createNoPushError();
}

/** Throws if the server sends no push notifications. */
export function requirePush(push: PushService | undefined): PushService {
  if (push === undefined) throw createNoPushError();
  return push;
}

function createNoPushError(): A2aError {
  const hint = "Fix: subscribe to the task; Last-Event-ID continues a stream without a gap";
  return new A2aError(
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    `This server sends no push notifications. ${hint}`,
  );
}
