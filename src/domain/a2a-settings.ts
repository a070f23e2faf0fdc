/** The public agent card of the A2A surface, and its push notifications. */
export interface A2aSettings {
  /** Default: `Spanline`. */
  readonly name?: string;
  readonly description?: string;
  /** Names of the agents on the public card. Default: all without keys, else the first. */
  readonly agents?: readonly string[];
  /** Offers paid work to other agents (`harn.external_agent.v1`). Default: false. */
  readonly externalAgent?: boolean;
  readonly push?: PushSettings;
}

/** Push notifications to the callers of the A2A surface. */
export interface PushSettings {
  /** Default: true. */
  readonly enabled?: boolean;
  /** Sends also to addresses of private networks and of this machine, and over http. Default: false. */
  readonly allowPrivate?: boolean;
}
