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

/** A session's settings, as the answers that open one carry them: the mode twice, since clients know one of the two. */
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

/** All of them, each time: a client replaces what it has. */
export function encodeOptions(mode: SessionMode): OptionsResult {
  return { configOptions: encodeConfigOptions(mode) };
}

const MODE_OPTION = "mode";

function encodeConfigOptions(mode: SessionMode): readonly ConfigOption[] {
  return [
    {
      id: MODE_OPTION,
      name: "Mode",
      description: "How much tools may do, within what the policy allows",
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
  /** What the client wants to hear when it is done. */
  readonly answer: "nothing" | "options";
}

/** Of `session/set_mode`. */
export function decodeSetMode(params: JsonObject): DecodeResult<ConfigureRequest> {
  return decodeConfigureRequest(params, "modeId", "nothing");
}

/** Of `session/set_config_option`. */
export function decodeSetOption(params: JsonObject): DecodeResult<ConfigureRequest> {
  if (params["configId"] === MODE_OPTION) return decodeConfigureRequest(params, "value", "options");
  return rejectParams(`"configId" is none of this session's options: ${MODE_OPTION}`);
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
    return rejectParams(`"${name}" is none of this session's modes: ${SESSION_MODES.join(", ")}`);
  }
  const command = { type: "set-mode", mode } as const;
  return accept({ type: "configure", sessionId: session.value, command, answer });
}
