/** The state of a run as text, as checkpoints and remembered states keep it. */
import type { OpenCall, RunState } from '../core/state.ts';

type StoredState = Omit<RunState, 'calls'> & { readonly calls: readonly OpenCall[] };

export function stateText(state: RunState): string {
  const stored: StoredState = { ...state, calls: [...state.calls.values()] };
  return JSON.stringify(stored);
}

/** The caller has checked the format of the text (`STATE_FORMAT`). */
export function stateFrom(text: string): RunState {
  const stored: StoredState = JSON.parse(text);
  return { ...stored, calls: new Map(stored.calls.map((call) => [call.callId, call])) };
}
