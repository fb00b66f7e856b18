/** What an entry into the function of a tool is given: the call, and the ports of its context. */
import type { CallBudget } from '@cairn/protocol';
import type { CallContext } from '../../engine/ports.ts';
import type { ReasoningVerbosity } from '../models/turn.ts';
import type { ArtifactPort } from './artifact-port.ts';
import type { SignInPort } from './sign-in.ts';
import type { Tool, ToolRecord } from './tool.ts';

export interface ToolEntryPorts {
  readonly now: () => number;
  /** Calls `wake` once after `ms`. Returns a function that cancels it. */
  readonly after: (ms: number, wake: () => void) => () => void;
  readonly secret: (tenant: string, name: string) => string | undefined;
  readonly artifacts: ArtifactPort;
  readonly signIns: SignInPort;
  /** A function returned a result after its call was given up. */
  readonly lateResult: (call: LateResult) => void;
}

export interface LateResult {
  readonly toolId: string;
  readonly runId: string;
  readonly callId: string;
}

export interface Entry {
  readonly tool: Tool;
  readonly agentId: string;
  readonly turnId: string;
  /** Whose credentials the tool may use; null for callers without a principal. */
  readonly principal: string | null;
  readonly records: readonly ToolRecord[];
  readonly reasoning: ReasoningVerbosity;
  readonly budget?: CallBudget | undefined;
  readonly call: CallContext;
}
