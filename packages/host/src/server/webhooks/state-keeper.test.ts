import { expect, test } from 'vitest';
import { ManualTimers } from '../manual-timers.kit.ts';
import { StateKeeper } from './state-keeper.ts';

function kept() {
  const timers = new ManualTimers();
  const saved: string[] = [];
  const reports: string[] = [];
  const fault = { isOn: false };
  const keeper = new StateKeeper({
    save: async (id, state) => {
      await null;
      if (fault.isOn) throw new Error('disk full');
      saved.push(`${id}=${state}`);
    },
    timers,
    report: ({ event, facts }) => void reports.push(`${event} ${facts?.subscription}`),
  });
  return { keeper, timers, saved, reports, fault };
}

test('what changes within a moment is saved once, as it is at its end, for all together', async () => {
  const { keeper, timers, saved } = kept();
  let state = 1;
  keeper.changed('a', () => String(state));
  keeper.changed('b', () => 'x');
  state = 2;
  keeper.changed('a', () => String(state));
  expect([timers.size, saved]).toEqual([1, []]);
  timers.pass(100);
  await keeper.flush();
  expect(saved).toEqual(['a=2', 'b=x']);
  expect(timers.size).toBe(0);
});

test('a flush saves at once and waits until it is saved', async () => {
  const { keeper, saved } = kept();
  keeper.changed('a', () => '1');
  await keeper.flush();
  expect(saved).toEqual(['a=1']);
  keeper.changed('a', () => '2');
  await Promise.all([keeper.flush(), keeper.flush()]);
  expect(saved).toEqual(['a=1', 'a=2']);
});

test('what could not be saved is told and saved later, unless it changed meanwhile', async () => {
  const { keeper, timers, saved, reports, fault } = kept();
  fault.isOn = true;
  keeper.changed('a', () => '1');
  await keeper.flush();
  expect([saved, reports]).toEqual([[], ['webhook.save_failed a']]);
  fault.isOn = false;
  timers.pass(5_000);
  await keeper.flush();
  expect(saved).toEqual(['a=1']);
});

test('a closed keeper saves nothing more', async () => {
  const { keeper, timers, saved } = kept();
  keeper.changed('a', () => '1');
  keeper.close();
  timers.pass(100);
  await keeper.flush();
  expect(saved).toEqual([]);
});
