/**
 * Writes metrics in the text format of Prometheus, version 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). Pure: the
 * caller passes names that are legal, and values of this moment.
 */

/** Value of `Content-Type` for the format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** One line of a metric. */
export interface Sample {
  /** Follows the name of the metric: `_bucket`, `_sum` or `_count` of a histogram. @default none */
  readonly suffix?: "_bucket" | "_sum" | "_count";
  readonly labels?: { readonly [name: string]: string };
  readonly value: number;
}

/** One metric and its samples. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** One sentence on its meaning and unit. */
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Returns `metrics` in the text format, one after the other. */
export function writeExposition(metrics: readonly Metric[]): string {
  return metrics.map(writeMetric).join("\n");
}

function writeMetric({ name, type, help, samples }: Metric): string {
  const lines = [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`];
  for (const { suffix = "", labels = {}, value } of samples) {
    const pairs = Object.entries(labels).map(
      ([label, text]) => `${label}="${escapeText(text).replaceAll('"', '\\"')}"`,
    );
    lines.push(`${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${writeNumber(value)}`);
  }
  return `${lines.join("\n")}\n`;
}

function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

/** As JavaScript writes it, except for infinities. */
function writeNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
