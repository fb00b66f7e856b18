/**
 * The ids of an agent's calls. The same place has the same id in every replay. Ids are built here and compared whole. Only
 * this file takes one apart, for records.
 */
import { payloadId } from '@cairn/protocol';
import type { AttemptPlace } from '../../../engine/workflow/driven-calls.ts';
import type { NodeContext } from '../../../engine/workflow/node-type.ts';

/** The attempt of a node that a context is about. */
export const placeOf = ({
  node,
  visit,
  attempt,
  state,
}: Pick<NodeContext, 'node' | 'visit' | 'attempt' | 'state'>): AttemptPlace => ({
  nodeId: node.id,
  visit,
  attempt,
  idToken: state.view.idToken,
});

const inAttempt = ({ nodeId, visit, attempt, idToken }: AttemptPlace, kind: 'call' | 'inv', local: string): string =>
  payloadId(idToken, kind, `${nodeId}#${visit}.${attempt}/${local}`);

/** `number` counts the invocations of the attempt from 0. */
export const idOfInvocation = (place: AttemptPlace, number: number): string => inAttempt(place, 'inv', String(number));

/** `turn` counts the turns of the attempt from 0. */
export const modelCallId = (place: AttemptPlace, turn: number): string => inAttempt(place, 'call', `m${turn}`);

/** Names a turn for the tool calls that it makes, and for the memory that they write. */
export const turnId = (place: AttemptPlace, turn: number): string => inAttempt(place, 'call', `t${turn}`);

/** `index` is the place of the call among all calls of its turn. */
export const toolCallId = (turn: string, index: number): string => `${turn}.${index}`;

/** The turn of a model call. No field of a recorded row has it, and a record has no state of the loop that could build it. */
export const turnOfModelCall = (callId: string): string => callId.replace(/m(\d+)$/, 't$1');
