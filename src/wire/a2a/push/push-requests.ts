import { isObject } from "../../../data/json.ts";
import { createParamsError } from "../a2a-error.ts";
import type { ProtocolVersion } from "../dialect.ts";
import { readId } from "../read-message.ts";
import { readParams } from "../read-request.ts";
import { readPushConfig, type SentPushConfig } from "./push-config.ts";

/** A request about the configs of a task. */
export interface PushTaskRequest {
  readonly taskId: string;
}

export interface CreatePushRequest extends PushTaskRequest {
  readonly config: SentPushConfig;
}

/** A request about one config. */
export interface PushRequest extends PushTaskRequest {
  readonly configId: string;
}

/** The fields of the config are at the root in 1.0, and in `pushNotificationConfig` in 0.3. */
export function readCreatePushRequest(params: unknown): CreatePushRequest {
  const fields = readParams(params);
  const { taskId, pushNotificationConfig } = fields;
  return {
    taskId: requireId(taskId, "taskId"),
    config: isObject(pushNotificationConfig)
      ? readPushConfig(pushNotificationConfig, "params.pushNotificationConfig")
      : readPushConfig(fields, "params"),
  };
}

/** The task is `taskId` in 1.0, and `id` in 0.3. */
export function readPushTaskRequest(params: unknown, version: ProtocolVersion): PushTaskRequest {
  const name = version === "1.0" ? "taskId" : "id";
  return { taskId: requireId(readParams(params)[name], name) };
}

/** In 0.3, the id of a config is the id of the task unless the client chose another. */
export function readPushRequest(params: unknown, version: ProtocolVersion): PushRequest {
  const { taskId } = readPushTaskRequest(params, version);
  const { id, pushNotificationConfigId } = readParams(params);
  if (version === "1.0") return { taskId, configId: requireId(id, "id") };
  const configId = readId(pushNotificationConfigId, "pushNotificationConfigId");
  return { taskId, configId: configId ?? taskId };
}

function requireId(value: unknown, name: string): string {
  const id = readId(value, name);
  if (id === undefined) throw createParamsError(`${name} is missing: expected an id`);
  return id;
}
