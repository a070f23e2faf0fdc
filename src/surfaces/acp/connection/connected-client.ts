import {
  NO_HOST_TOOLS,
  NO_SKILLS,
  type ClientSkillList,
  type HostToolList,
} from "../../../domain/client-tools.ts";
import type { ShellList } from "../../../domain/tools/shell.ts";
import {
  STOCK_CLIENT,
  applyUpdatesSetting,
  type ClientProfile,
  type UpdatesSetting,
} from "../../../wire/acp/decode/client-profile.ts";
import type { ClientLink } from "./client-link.ts";

/** The declared properties of a connection's client: its name, its profile, and the offers of its machine. */
export interface ConnectedClient {
  /** Undefined before `initialize`. */
  readonly name: string | undefined;
  readonly profile: ClientProfile;
  /** Resolves when the updates setting is known. */
  readonly ready: Promise<void>;
  readonly getHostTools: () => Promise<HostToolList>;
  readonly getHostShells: () => Promise<ShellList | undefined>;
  readonly getHostSkills: () => Promise<ClientSkillList>;
  readonly getSkillsVersion: () => number;
  /** Handles a notification of changed skills. Returns false if the client was never asked for its skills. */
  readonly handleChangedSkills: () => boolean;
  initialize(name: string, declared: ClientProfile): void;
  /** Called for every method of the bridge protocol. From the first such method on, the client counts as a host. */
  handleBridgeMethod(): void;
  /** Returns true once if the client turned out to be a host after its sessions had attached it as a stock client. */
  takeUndeclared(): boolean;
}

export interface ConnectedClientOptions extends HostListsOptions {
  readonly updates: UpdatesSetting | Promise<UpdatesSetting>;
}

export function createConnectedClient(options: ConnectedClientOptions): ConnectedClient {
  const { updates } = options;
  const lists = createHostLists(options);
  let setting: UpdatesSetting = typeof updates === "string" ? updates : "auto";
  let declared = STOCK_CLIENT;
  let callsBridge = false;
  let isUndeclared = false;

  function changeProfile(): void {
    client.profile = applyUpdatesSetting(declared, setting, callsBridge);
  }

  async function applySetting(pending: Promise<UpdatesSetting>): Promise<void> {
    setting = await pending;
    changeProfile();
    lists.request(client.profile, setting);
  }

  const client: MutableClient = {
    name: undefined,
    profile: STOCK_CLIENT,
    ready: Promise.resolve(),
    getHostTools: lists.getTools,
    getHostShells: lists.getShells,
    getHostSkills: lists.skills.get,
    getSkillsVersion: lists.skills.getVersion,
    handleChangedSkills: lists.skills.invalidate,
    initialize(clientName, declaredProfile) {
      const isFirst = client.name === undefined;
      client.name = clientName;
      declared = declaredProfile;
      changeProfile();
      if (!isFirst) return;
      if (typeof updates === "string") lists.request(client.profile, setting);
      else client.ready = applySetting(updates);
    },
    handleBridgeMethod() {
      if (callsBridge) return;
      callsBridge = true;
      changeProfile();
      isUndeclared = !declared.usesBridge;
      if (isUndeclared && setting === "auto") lists.requestLater(client.profile, setting);
    },
    takeUndeclared() {
      const wasUndeclared = isUndeclared;
      isUndeclared = false;
      return wasUndeclared;
    },
  };
  return client;
}

/** Changed by the client's requests, and read-only for callers. */
type MutableClient = { -readonly [Name in keyof ConnectedClient]: ConnectedClient[Name] };

type HostLink = Pick<ClientLink, "sendRequest" | "withdrawRequest" | "clock" | "log">;

interface HostListsOptions {
  readonly hostLink: HostLink;
  /** Whether the client may provide tools, shells and skills. */
  readonly mayControl: boolean;
  readonly isLocalUser: boolean;
  readonly isSameMachine: boolean;
  /** Sends late lists to the client's sessions. */
  readonly onLateLists: () => Promise<void>;
}

/** The lists of tools, shells and skills offered by a host. The setup of a session waits for these lists. */
interface HostLists {
  readonly getTools: ConnectedClient["getHostTools"];
  readonly getShells: ConnectedClient["getHostShells"];
  readonly skills: HostSkills;
  request(profile: ClientProfile, setting: UpdatesSetting): void;
  /** For a client that turned out to be a host: its sessions receive the lists on arrival, and no request waits. */
  requestLater(profile: ClientProfile, setting: UpdatesSetting): void;
}

function createHostLists(options: HostListsOptions): HostLists {
  const { hostLink, mayControl } = options;
  let tools: Promise<HostToolList> = Promise.resolve(NO_HOST_TOOLS);
  let shells: Promise<ShellList | undefined> = Promise.resolve(undefined);
  const skills = createHostSkills(hostLink);

  function useDefault<Value>(value: Value): Value {
    hostLink.log("the lists of a host cannot be requested");
    return value;
  }

  /**
   * Shells run on this machine, so the client must run here too. For a client of the server only the setting `bridge`
   * says so.
   */
  function hasShellsHere({ hasShells }: ClientProfile, setting: UpdatesSetting): boolean {
    const isHere = options.isSameMachine || (options.isLocalUser && setting === "bridge");
    return hasShells && isHere;
  }

  async function loadLater(hasShells: boolean): Promise<void> {
    const [list, found] = await Promise.all([
      loadHostTools(hostLink),
      hasShells ? loadHostShells(hostLink) : undefined,
    ]);
    tools = Promise.resolve(list);
    shells = Promise.resolve(found);
    await options.onLateLists();
  }

  async function loadSkillsLater(): Promise<void> {
    await skills.requestLater();
    if ((await skills.get()) !== NO_SKILLS) await options.onLateLists();
  }

  return {
    getTools: () => tools,
    getShells: () => shells,
    skills,
    request(profile, setting) {
      if (!mayControl) return;
      if (profile.hasTools) tools = loadHostTools(hostLink).catch(() => useDefault(NO_HOST_TOOLS));
      if (hasShellsHere(profile, setting))
        shells = loadHostShells(hostLink).catch(() => useDefault(undefined));
      if (profile.hasSkills) skills.request();
    },
    requestLater(profile, setting) {
      if (!mayControl) return;
      const onFailed = (error: unknown): void =>
        hostLink.log("the lists of a host cannot be used", { error: String(error) });
      loadLater(hasShellsHere(profile, setting)).catch(onFailed);
      // Separate: a host which does not respond to a method delays only that list.
      loadSkillsLater().catch(onFailed);
    },
  };
}

/** The skills of a host. Unlike the other lists, the host can announce a change. */
interface HostSkills {
  /** Returns the list, and requests a changed list first. */
  readonly get: ConnectedClient["getHostSkills"];
  /** The number of announced changes. */
  readonly getVersion: () => number;
  readonly request: () => void;
  /** Requests the list. Until its arrival, `get` returns the previous list at once. */
  readonly requestLater: () => Promise<void>;
  /** Marks the list as changed. Returns false if the list was never requested. */
  readonly invalidate: () => boolean;
}

function createHostSkills(hostLink: HostLink): HostSkills {
  let skills: Promise<ClientSkillList> = Promise.resolve(NO_SKILLS);
  let version = 0;
  let isRequested = false;
  let isChanged = false;

  /** Keeps the previous list if the host does not return a list. */
  async function load(): Promise<ClientSkillList> {
    const previous = skills;
    isRequested = true;
    isChanged = false;
    try {
      const { requestHostSkills } = await import("../host/request-host-lists.ts");
      return (await requestHostSkills(hostLink)) ?? previous;
    } catch (error) {
      hostLink.log("the skills of a host cannot be requested", { error: String(error) });
      return previous;
    }
  }

  function request(): void {
    skills = load();
  }

  return {
    get() {
      if (isChanged) request();
      return skills;
    },
    getVersion: () => version,
    request,
    async requestLater() {
      const list = await load();
      skills = Promise.resolve(list);
    },
    invalidate() {
      if (!isRequested) return false;
      isChanged = true;
      version += 1;
      return true;
    },
  };
}

async function loadHostTools(link: HostLink): Promise<HostToolList> {
  const { requestHostTools } = await import("../host/request-host-lists.ts");
  return requestHostTools(link);
}

async function loadHostShells(link: HostLink): Promise<ShellList | undefined> {
  const { requestHostShells } = await import("../host/request-host-lists.ts");
  return requestHostShells(link);
}
