import { expect, test } from 'vitest';
import { histogramOf, metricValue, parseMetrics, quantileOf } from './prometheus.ts';

const text = `# HELP cairn_log_append_duration_seconds From asking to durable.
# TYPE cairn_log_append_duration_seconds histogram
cairn_log_append_duration_seconds_bucket{le="0.001"} 2
cairn_log_append_duration_seconds_bucket{le="0.01"} 9
cairn_log_append_duration_seconds_bucket{le="+Inf"} 10
cairn_log_append_duration_seconds_sum 0.5
cairn_log_append_duration_seconds_count 10
cairn_store_size_bytes 4096
cairn_tenant_used{openwop_tenant_id="a \\"b\\"",resource="activeRuns"} 3
nonsense
`;

test('values and labels are read, and what is no metric is left out', () => {
  const metrics = parseMetrics(text);
  expect(metricValue(metrics, 'cairn_store_size_bytes')).toBe(4096);
  expect(metricValue(metrics, 'cairn_unknown')).toBeNull();
  expect(metrics.get('cairn_tenant_used')).toEqual([
    { labels: { openwop_tenant_id: 'a "b"', resource: 'activeRuns' }, value: 3 },
  ]);
  expect(metrics.has('nonsense')).toBe(false);
});

test('a histogram holds what lies between its bounds', () => {
  const found = histogramOf(parseMetrics(text), 'cairn_log_append_duration_seconds');
  expect(found).toEqual({
    buckets: [
      { to: 0.001, count: 2 },
      { to: 0.01, count: 7 },
      { to: Number.POSITIVE_INFINITY, count: 1 },
    ],
    count: 10,
    sum: 0.5,
  });
  expect(found && [0.2, 0.9, 0.99].map((share) => quantileOf(found, share))).toEqual([
    0.001,
    0.01,
    Number.POSITIVE_INFINITY,
  ]);
  expect(histogramOf(parseMetrics(text), 'cairn_eventloop_delay_seconds')).toBeNull();
});

test('no values have no quantile', () => {
  expect(quantileOf({ buckets: [], count: 0, sum: 0 }, 0.5)).toBeNull();
});
