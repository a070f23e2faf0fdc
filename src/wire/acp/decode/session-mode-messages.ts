import type { JsonObject } from "../../../data/json.ts";
import type { SessionCommand } from "../../../domain/session-command.ts";
import {
  isSessionMode,
  MODE_DESCRIPTIONS,
  SESSION_MODES,
  type SessionMode,
} from "../../../domain/session-mode.ts";
import { accept, decodeSessionId, rejectParams, type DecodeResult } from "../json-fields.ts";
import type { ConfigOption, OptionsResult } from "../encode/acp-session-update.ts";
import { formatNames, formatUnknownName } from "../../../text/unknown-name.ts";

/**
 * Encodes the settings for responses that open a session. The mode is sent as `modes` and as a config option, since
 * most clients support only one form.
 */
export function encodeSettings(mode: SessionMode): SettingsResult {
  const availableModes = SESSION_MODES.map((id) => ({ id, ...MODE_DESCRIPTIONS[id] }));
  return {
    modes: { currentModeId: mode, availableModes },
    configOptions: encodeConfigOptions(mode),
  };
}

export interface SettingsResult extends OptionsResult {
  readonly modes: {
    readonly currentModeId: SessionMode;
    readonly availableModes: readonly object[];
  };
}

/** Encodes all config options: a client replaces its whole list with every update. */
export function encodeOptions(mode: SessionMode): OptionsResult {
  return { configOptions: encodeConfigOptions(mode) };
}

const MODE_OPTION = "mode";

function encodeConfigOptions(mode: SessionMode): readonly ConfigOption[] {
  return [
    {
      id: MODE_OPTION,
      name: "Mode",
      description: "How much tools may do within the policy",
      category: "mode",
      type: "select",
      currentValue: mode,
      options: SESSION_MODES.map((value) => ({ value, ...MODE_DESCRIPTIONS[value] })),
    },
  ];
}

export interface ConfigureRequest {
  readonly type: "configure";
  readonly sessionId: string;
  readonly command: Extract<SessionCommand, { readonly type: "set-mode" }>;
  /** The result that the method returns: empty, or the current config options. */
  readonly answer: "nothing" | "options";
}

/** Decodes `session/set_mode`. */
export function decodeSetMode(params: JsonObject): DecodeResult<ConfigureRequest> {
  return decodeConfigureRequest(params, "modeId", "nothing");
}

/** Decodes `session/set_config_option`. */
export function decodeSetOption(params: JsonObject): DecodeResult<ConfigureRequest> {
  if (params["configId"] === MODE_OPTION) return decodeConfigureRequest(params, "value", "options");
  const { configId } = params;
  return rejectParams(
    typeof configId === "string"
      ? formatUnknownName("Configuration option", configId, { names: [MODE_OPTION] })
      : `"configId" is not a valid option: expected ${formatNames([MODE_OPTION])}`,
  );
}

function decodeConfigureRequest(
  params: JsonObject,
  name: "modeId" | "value",
  answer: ConfigureRequest["answer"],
): DecodeResult<ConfigureRequest> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const mode = params[name];
  if (!isSessionMode(mode)) {
    return rejectParams(
      typeof mode === "string"
        ? formatUnknownName("Mode", mode, { names: SESSION_MODES })
        : `"${name}" is not a valid mode: expected ${formatNames(SESSION_MODES)}`,
    );
  }
  const command = { type: "set-mode", mode } as const;
  return accept({ type: "configure", sessionId: session.value, command, answer });
}
