/** The public agent card of the A2A surface. */
export interface A2aSettings {
  /** Default: `Spanline`. */
  readonly name?: string;
  readonly description?: string;
  /** Names of the agents on the public card. Default: all without keys, else the first. */
  readonly agents?: readonly string[];
  /** Offers paid work to other agents (`harn.external_agent.v1`). Default: false. */
  readonly externalAgent?: boolean;
}
