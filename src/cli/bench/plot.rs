//! A line chart as SVG: a few dozen lines, since a library for it would bring fonts and bitmaps along. Both axes count in powers of
//! ten, so that a straight line is proportion and equal gaps are equal ratios.

/// Several lines over one pair of axes.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    /// The file's name without its end.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) across: &'static str,
    pub(super) up: &'static str,
    /// A name, and points of positive coordinates; limits are drawn dashed.
    pub(super) lines: Vec<Line>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) is_limit: bool,
    pub(super) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// Left, right, top, bottom of the axes: room for the numbers and, to the right, for the names of the lines.
const FRAME: (f64, f64, f64, f64) = (80.0, 470.0, 50.0, 365.0);
/// Told apart by the colour-blind, too (Okabe and Ito 2008).
const COLOURS: [&str; 8] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F"];

impl Chart {
    /// An empty one.
    pub(super) fn new(name: &str, title: &str, across: &'static str, up: &'static str) -> Self {
        Self { name: name.to_owned(), title: title.to_owned(), across, up, lines: Vec::new() }
    }

    /// Adds a point to the line of that name, which begins with its first.
    pub(super) fn add(&mut self, line: &str, is_limit: bool, across: f64, up: f64) {
        let at = self.lines.iter().position(|other| other.name == line).unwrap_or_else(|| {
            self.lines.push(Line { name: line.to_owned(), is_limit, points: Vec::new() });
            self.lines.len() - 1
        });
        self.lines[at].points.push((across, up));
    }

    /// The file's text.
    pub(super) fn to_svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points).filter(|(x, y)| *x > 0.0 && *y > 0.0);
        let across = Axis::of(points().map(|point| point.0), FRAME.0, FRAME.1);
        let up = Axis::of(points().map(|point| point.1), FRAME.3, FRAME.2);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        text(&mut out, (FRAME.0, 25.0), "start", &format!("<tspan font-size=\"15\">{}</tspan>", escaped(&self.title)));
        for (value, x) in across.ticks() {
            line(&mut out, (x, FRAME.2), (x, FRAME.3));
            text(&mut out, (x, FRAME.3 + 18.0), "middle", &short(value));
        }
        for (value, y) in up.ticks() {
            line(&mut out, (FRAME.0, y), (FRAME.1, y));
            text(&mut out, (FRAME.0 - 8.0, y + 4.0), "end", &short(value));
        }
        text(&mut out, ((FRAME.0 + FRAME.1) / 2.0, HEIGHT - 15.0), "middle", &escaped(self.across));
        text(&mut out, (FRAME.0 - 50.0, FRAME.2 - 8.0), "start", &escaped(self.up));
        for (at, (of, colour)) in self.lines.iter().zip(COLOURS.into_iter().cycle()).enumerate() {
            self.draw(&mut out, (at, of, colour), &across, &up);
        }
        out + "</svg>\n"
    }

    fn draw(&self, out: &mut String, (at, of, colour): (usize, &Line, &str), across: &Axis, up: &Axis) {
        let dashed = if of.is_limit { " stroke-dasharray=\"6 4\"" } else { "" };
        let places: Vec<(f64, f64)> =
            of.points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (across.at(*x), up.at(*y))).collect();
        let path: String = places.iter().map(|(x, y)| format!("{x:.1},{y:.1} ")).collect();
        let path = path.trim_end();
        add(
            out,
            format_args!("<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashed}/>"),
        );
        for (x, y) in places {
            add(out, format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"));
        }
        let y = FRAME.2 + 10.0 + 20.0 * at as f64;
        let (from, to) = (FRAME.1 + 15.0, FRAME.1 + 40.0);
        add(out, format_args!("<path d=\"M{from} {y}H{to}\" stroke=\"{colour}\" stroke-width=\"2\"{dashed}/>"));
        text(out, (to + 8.0, y + 4.0), "start", &escaped(&of.name));
    }
}

/// Powers of ten along a stretch of the picture.
struct Axis {
    /// Exponents of ten.
    from: f64,
    to: f64,
    begin: f64,
    end: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>, begin: f64, end: f64) -> Self {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return Self { from: 0.0, to: 1.0, begin, end };
        }
        let (from, to) = (low.log10().floor(), high.log10().ceil());
        Self { from, to: to.max(from + 1.0), begin, end }
    }

    fn at(&self, value: f64) -> f64 {
        self.begin + (value.log10() - self.from) / (self.to - self.from) * (self.end - self.begin)
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, f64)> {
        (self.from as i32..=self.to as i32).map(|exponent| 10_f64.powi(exponent)).map(|value| (value, self.at(value)))
    }
}

fn add(out: &mut String, what: std::fmt::Arguments<'_>) {
    out.push_str(&what.to_string());
    out.push('\n');
}

fn line(out: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    add(out, format_args!("<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#ddd\"/>"));
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    add(out, format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `0.01`, `10`, `1k`, `1M`.
fn short(value: f64) -> String {
    match value {
        value if value >= 999_999.5 => format!("{}M", (value / 1e6).round()),
        value if value >= 999.5 => format!("{}k", (value / 1e3).round()),
        value if value >= 1.0 => format!("{}", value.round()),
        value => {
            let digits = (-value.log10()).ceil() as usize;
            format!("{value:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_draws_every_point_inside_its_frame() {
        let mut chart = Chart::new("x", "saves & <limits>", "in flight", "a second");
        for (across, up) in [(1.0, 250.0), (128.0, 30_000.0), (1_000.0, 60_000.0)] {
            chart.add("memlog", false, across, up);
            chart.add("redb alone", true, across, 2.0 * up);
        }
        let svg = chart.to_svg();
        assert_eq!(svg.matches("<circle").count(), 6);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(
            svg.contains("saves &amp; &lt;limits&gt;") && svg.contains(">100k<") && svg.contains("stroke-dasharray")
        );
        for place in svg.split("<circle cx=\"").skip(1) {
            let (x, rest) = place.split_once("\" cy=\"").unwrap();
            let y = rest.split('"').next().unwrap();
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            assert!((FRAME.0..=FRAME.1).contains(&x) && (FRAME.2..=FRAME.3).contains(&y), "{x} {y}");
        }
        insta::assert_snapshot!("chart", svg);
    }

    // A section that could measure nothing still writes its file.
    #[test]
    fn an_empty_chart_is_a_frame() {
        let svg = Chart::new("x", "nothing", "a", "b").to_svg();
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!([0.01, 0.1, 1.0, 10.0, 1e3, 1e5, 1e6].map(short), ["0.01", "0.1", "1", "10", "1k", "100k", "1M"]);
    }
}
