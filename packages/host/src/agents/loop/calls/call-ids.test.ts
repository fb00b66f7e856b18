import { expect, test } from 'vitest';
import { idOfInvocation, modelCallId, toolCallId, turnId } from './call-ids.ts';

const place = { nodeId: 'a.1#2', visit: 3, attempt: 4, idToken: null };
const withToken = { ...place, idToken: '0f' };

test('ids keep the form that rows of earlier versions have', () => {
  expect(idOfInvocation(place, 0)).toBe('a.1#2#3.4/0');
  expect(modelCallId(place, 7)).toBe('a.1#2#3.4/m7');
  expect(turnId(place, 7)).toBe('a.1#2#3.4/t7');
  expect(toolCallId(turnId(place, 7), 12)).toBe('a.1#2#3.4/t7.12');
  expect(idOfInvocation(withToken, 0)).toBe('inv_0f_a.1#2#3.4/0');
  expect(toolCallId(turnId(withToken, 7), 12)).toBe('call_0f_a.1#2#3.4/t7.12');
});
