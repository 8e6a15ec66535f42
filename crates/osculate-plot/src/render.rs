//! Writing a scene as PNG or SVG.

use std::fs::{self, File};
use std::path::Path;

use plotters::prelude::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters_backend::{BackendColor, BackendStyle, DrawingErrorKind};

use crate::error::PlotError;
use crate::palette::{Rgb, WHITE};
use crate::scene::{Item, Label, Rect, Scene};
use crate::stroke;
use crate::text::{self, Style};

/// Pixels of a PNG per logical pixel.
const PNG_SCALE: u32 = 2;
/// Each pixel of a PNG is the mean of this many squared, so that edges are smooth.
const OVERSAMPLING: u32 = 2;
/// User units of an SVG per logical pixel: plotters has whole coordinates only.
const SVG_SCALE: f64 = 10.0;
/// Capitals and digits are this much above the line that plotters calls their centre \[em\].
const CENTRE_SHIFT: f64 = 0.095;

/// File formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Png,
    Svg,
}

impl Format {
    /// Format that the extension of the path asks for.
    fn of(path: &Path) -> Result<Self, PlotError> {
        let found = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        match found.to_ascii_lowercase().as_str() {
            "png" => Ok(Self::Png),
            "svg" => Ok(Self::Svg),
            _ => Err(PlotError::UnknownExtension { path: path.to_owned(), found }),
        }
    }
}

/// Builds a scene and writes it in the format that the extension asks for.
pub(crate) fn save(
    path: &Path,
    build: impl FnOnce() -> Result<Scene, PlotError>,
) -> Result<(), PlotError> {
    let format = Format::of(path)?;
    text::font()?;
    let scene = build()?;
    match format {
        Format::Png => write_png(&scene, path),
        Format::Svg => fs::write(path, svg(&scene)?)
            .map_err(|e| PlotError::Write { path: path.into(), source: e }),
    }
}

fn write_png(scene: &Scene, path: &Path) -> Result<(), PlotError> {
    // The encoder hides the reason of a failed write, so the file is opened once before.
    File::create(path).map_err(|source| PlotError::Write { path: path.into(), source })?;
    let (width, height) = (scene.width as u32 * PNG_SCALE, scene.height as u32 * PNG_SCALE);
    let pixels = bitmap(scene, width, height)?;
    let mut file = BitMapBackend::new(path, (width, height));
    file.blit_bitmap((0, 0), (width, height), &pixels).map_err(PlotError::backend)?;
    file.present().map_err(PlotError::backend)
}

/// Red, green and blue of each pixel, row by row.
fn bitmap(scene: &Scene, width: u32, height: u32) -> Result<Vec<u8>, PlotError> {
    let fine = (width * OVERSAMPLING, height * OVERSAMPLING);
    let mut samples = vec![255; 3 * fine.0 as usize * fine.1 as usize];
    {
        let mut backend = BitMapBackend::with_buffer(&mut samples, fine);
        let mut pen = Pen { scale: f64::from(PNG_SCALE * OVERSAMPLING), format: Format::Png };
        pen.paint(scene, &mut backend).map_err(PlotError::backend)?;
    }
    let mut pixels = Vec::with_capacity(3 * width as usize * height as usize);
    let (n, row) = (OVERSAMPLING as usize, 3 * fine.0 as usize);
    for y in 0..height as usize {
        for x in 0..width as usize {
            for channel in 0..3 {
                let corner = n * y * row + 3 * n * x + channel;
                let sum: usize = (0..n * n)
                    .map(|i| usize::from(samples[corner + i / n * row + 3 * (i % n)]))
                    .sum();
                pixels.push(((sum + n * n / 2) / (n * n)) as u8);
            }
        }
    }
    Ok(pixels)
}

fn svg(scene: &Scene) -> Result<String, PlotError> {
    let size = ((scene.width * SVG_SCALE) as u32, (scene.height * SVG_SCALE) as u32);
    let mut document = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut document, size);
        let mut pen = Pen { scale: SVG_SCALE, format: Format::Svg };
        pen.paint(scene, &mut backend).map_err(PlotError::backend)?;
        backend.present().map_err(PlotError::backend)?;
    }
    let drawn = format!("width=\"{}\" height=\"{}\" ", size.0, size.1);
    let shown =
        format!("width=\"{}\" height=\"{}\" stroke-linejoin=\"round\" ", scene.width, scene.height);
    Ok(document.replacen(&drawn, &shown, 1))
}

/// Colour and width of a line for plotters.
struct Ink {
    colour: BackendColor,
    width: u32,
}

impl BackendStyle for Ink {
    fn color(&self) -> BackendColor {
        self.colour
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

fn colour(Rgb(r, g, b): Rgb) -> BackendColor {
    BackendColor { alpha: 1.0, rgb: (r, g, b) }
}

type Drawn<D> = Result<(), DrawingErrorKind<<D as DrawingBackend>::ErrorType>>;

/// Paints shapes at a scale.
struct Pen {
    scale: f64,
    format: Format,
}

impl Pen {
    fn at(&self, (x, y): (f64, f64)) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    fn paint<D: DrawingBackend>(&mut self, scene: &Scene, backend: &mut D) -> Drawn<D> {
        let size = self.at((scene.width, scene.height));
        backend.draw_rect((0, 0), size, &colour(WHITE), true)?;
        scene.items.iter().try_for_each(|item| match item {
            Item::Path { points, colour, width } => self.path(backend, points, *colour, *width),
            Item::Rect { rect, colour: fill } => self.rect(backend, rect, *fill),
            Item::Disc { centre, radius, colour: fill } => {
                let radius = (radius * self.scale).round() as u32;
                backend.draw_circle(self.at(*centre), radius, &colour(*fill), true)
            }
            Item::Text(label) => self.text(backend, label),
        })
    }

    fn rect<D: DrawingBackend>(&self, backend: &mut D, rect: &Rect, fill: Rgb) -> Drawn<D> {
        let (from, to) = (self.at((rect.left, rect.top)), self.at((rect.right, rect.bottom)));
        backend.draw_rect(from, to, &colour(fill), true)
    }

    fn path<D: DrawingBackend>(
        &self,
        backend: &mut D,
        points: &[(f64, f64)],
        ink: Rgb,
        width: f64,
    ) -> Drawn<D> {
        match self.format {
            Format::Svg => {
                let pixels: Vec<_> = points.iter().map(|p| self.at(*p)).collect();
                let width = (width * self.scale).round() as u32;
                backend.draw_path(pixels, &Ink { colour: colour(ink), width })
            }
            Format::Png => {
                let exact = |p: &(f64, f64)| (p.0 * self.scale, p.1 * self.scale);
                let pixels: Vec<_> = points.iter().map(exact).collect();
                stroke::draw(backend, &pixels, width * self.scale, colour(ink))
            }
        }
    }

    fn text<D: DrawingBackend>(&self, backend: &mut D, label: &Label) -> Drawn<D> {
        let shift = label.size * CENTRE_SHIFT;
        let (x, y) = label.at;
        let at = if label.upwards { (x + shift, y) } else { (x, y + shift) };
        let style = Style {
            em: label.size * self.scale,
            colour: label.colour,
            anchor: label.anchor,
            upwards: label.upwards,
        };
        backend.draw_text(&label.text, &style, self.at(at))
    }
}
