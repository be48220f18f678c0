// SPDX-License-Identifier: Apache-2.0
// The figures of two sides beside one another: before, after, the difference with its interval, and
// whether that is more than chance.

import type { ChangePage, Clock, ComparisonPage, FigurePage } from "../data";
import { change as changed } from "../flame/amounts";
import { count, rate, size, span } from "../format";
import { Num } from "../number";

// A figure in its own unit; `signed` for differences.
export function figureText(figure: FigurePage, clock: Clock, value: number | null, signed: boolean): string {
  if (value === null || !Number.isFinite(value)) return "–";
  if (figure.name === "rate_mb_per_step") return Math.abs(value) < 5e-7 ? "0" : rate(clock, value).replace("-", "−");
  if (figure.unit === "MB") return signed ? changed(value) : size(value);
  const sign = value < 0 ? "−" : signed && value > 0 ? "+" : "";
  if (figure.unit === "s") return `${sign}${secondsText(Math.abs(value))}`;
  return `${sign}${count(Math.abs(value))}${figure.unit === "" ? "" : ` ${figure.unit}`}`;
}

function secondsText(seconds: number): string {
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(3))} ms`;
  return `${Number(seconds.toPrecision(3))} s`;
}

// More memory, more spikes and slower steps are all worse.
function toneOf(figure: FigurePage): string {
  if (!figure.significant || figure.difference === null) return "";
  return figure.difference > 0 ? "worse" : "better";
}

function Row({ figure, clock }: { figure: FigurePage; clock: Clock }) {
  const text = (value: number | null, signed: boolean) => figureText(figure, clock, value, signed);
  const tone = toneOf(figure);
  const isRise = figure.name === "growth_mb";
  const interval = figure.low === null || figure.high === null ? "–" : `${text(figure.low, true)} to ${text(figure.high, true)}`;
  return (
    <tr>
      <th scope="row"><Num k={`figures.${figure.name}`}>{figure.title}</Num></th>
      <td class="right nowrap">{text(figure.before, isRise)}</td>
      <td class="right nowrap">{text(figure.after, isRise)}</td>
      <td class={`right nowrap ${tone}`}>{text(figure.difference, true)}</td>
      <td class="right nowrap">{interval}</td>
      <td>
        {tone !== "" ? (
          <span class={`state ${tone === "worse" ? "bad" : "good"}`}>significant</span>
        ) : figure.low === null ? (
          <span class="muted">{figure.difference === null ? "not known" : "not tested"}</span>
        ) : (
          <span class="muted">may be chance</span>
        )}
      </td>
    </tr>
  );
}

export function ComparisonFigures({ comparison, change }: { comparison: ComparisonPage; change: ChangePage }) {
  const before = comparison.sides[0]?.name ?? "A";
  const after = comparison.sides[change.side]?.name ?? "B";
  const known = change.figures.filter((figure) => figure.before !== null || figure.after !== null);
  const where = change.to > change.from ? span(change.clock, change.from, change.to) : null;
  return (
    <div class="compare-figures">
      {comparison.changes.length < 2 ? null : (
        <h3>
          {after} against {before}: {change.headline}
        </h3>
      )}
      {known.length === 0 ? null : (
        <div class="scroll-x">
          <table>
            <thead>
              <tr>
                <th scope="col">Figure</th>
                <th scope="col" class="right">{before}</th>
                <th scope="col" class="right">{after}</th>
                <th scope="col" class="right">{after} − {before}</th>
                <th scope="col" class="right">99 % sure it lies within</th>
                <th scope="col">More than chance?</th>
              </tr>
            </thead>
            <tbody>
              {known.map((figure) => (
                <Row key={figure.name} figure={figure} clock={change.clock} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {where === null ? null : (
        <p class="aside">
          Over {where}, {change.component} memory; levels over {span(change.clock, change.level_from, change.to)}.
        </p>
      )}
      {change.warnings.map((warning) => (
        <p key={warning} class="warning">
          {warning}
        </p>
      ))}
    </div>
  );
}
